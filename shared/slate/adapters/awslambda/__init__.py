"""Functions that start functions."""
