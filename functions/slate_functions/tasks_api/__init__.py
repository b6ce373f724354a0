"""The tasks API: graphs, tasks, claims, API keys, health, and the API's description."""
