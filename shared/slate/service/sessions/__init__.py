"""Conversations: kept, read, changed, closed, and let go."""
