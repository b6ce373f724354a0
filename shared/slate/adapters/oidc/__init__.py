"""Tokens of an OpenID Connect issuer: its published keys, and what they signed."""
