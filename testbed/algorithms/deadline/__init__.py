"""Broadcast groups whose messages are worthless after a deadline. One file per algorithm."""
