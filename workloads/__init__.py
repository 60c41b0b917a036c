"""Traffic, destinations, payloads: who sends what to whom, and when. Knows testbed.core only."""
