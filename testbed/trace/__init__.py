"""The trace: its schema, its writer, its run directory, and the oracle that judges it."""
