"""Decay: what falls due of memory by the clock alone: idle sessions, and those whose time is over."""
