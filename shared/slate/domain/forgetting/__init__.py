"""Forgetting: how a memory fades, what keeps it, what goes first where there is no room. Pure: no clock, no storage."""
