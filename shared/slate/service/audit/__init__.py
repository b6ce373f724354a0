"""Audit: every deed is written down before it shows, and what was written down can be read and proved."""
