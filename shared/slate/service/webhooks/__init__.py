"""Webhooks: kept by operators, served by a consumer of their queue."""
