"""The webhooks' consumer: sends events to the addresses that tenants named."""
