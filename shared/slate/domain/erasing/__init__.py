"""Erasing: what a request goes through, step by step, and what proves that it was done. Pure: no clock, no storage."""
