"""Contexts: what an agent sees, put together from what each source offers, and kept as a receipt."""
