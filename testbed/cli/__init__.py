"""The command line: composition root of everything else, with lazy imports."""
