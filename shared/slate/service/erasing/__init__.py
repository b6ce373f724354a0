"""Erasing persons: asked for, done step by step, and proved."""
