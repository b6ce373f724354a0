"""Forgetting: facts fade and go, wake and come back; each act is one conditional step, and logged with it."""
