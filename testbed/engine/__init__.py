"""Plan, shell and virtual time: how an algorithm is run, whichever engine drives it."""
