"""Entities and rules, one concept a file: no I/O, no AWS, no HTTP, no clock of its own."""
