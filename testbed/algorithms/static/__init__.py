"""Processes that neither move nor fail: unicast, multicast, broadcast."""
