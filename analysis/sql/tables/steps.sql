-- Question: what do the rows of a mobile run say about holding messages back?
-- Grain:    one row per event that the measure of inhibition reads, of runs with stations
-- Reads:    events, runs
SELECT
  run, stations, n, event, node, seq, time, origin, number, dests, peer, packet, reason
FROM events
JOIN runs USING (run)
WHERE stations IS NOT NULL
  AND event IN (
    'send', 'receive', 'forward', 'retransmit', 'discard', 'enter', 'leave', 'connect',
    'disconnect', 'handoff_begin', 'handoff_end'
  )
