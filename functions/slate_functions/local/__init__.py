"""Slate on one machine: the same apps as on AWS behind a small gateway, over moto, and the ``slate`` command."""
