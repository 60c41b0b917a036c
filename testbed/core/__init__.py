"""The vocabulary: what an algorithm may know. No clock, no socket, no engine."""
