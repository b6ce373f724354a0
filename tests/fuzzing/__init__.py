"""Requests nobody thought of, made from the OpenAPI document, against a server of its own."""
