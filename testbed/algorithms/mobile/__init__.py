"""Mobile systems: stations with cells, hosts that move, hand-off. One file per algorithm."""
