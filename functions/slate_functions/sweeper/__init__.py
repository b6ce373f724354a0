"""The sweeper: does what has fallen due, and what a crash left undone."""
