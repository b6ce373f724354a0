"""Ranking: which of what is known answers a query best, and why. Pure: no storage, no clock, no model."""
