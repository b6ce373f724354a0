"""Handlers as Lambda runs them: AWS's own runtime client in a process of its own, asking an API that hands out events."""
