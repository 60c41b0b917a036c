"""The live engine: every node in a Ray actor. The only package that imports ray and zmq."""
