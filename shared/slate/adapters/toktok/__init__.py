"""Exact counts, by toktok: a tokenizer that carries its vocabularies within."""
