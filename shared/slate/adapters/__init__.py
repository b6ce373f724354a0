"""What keeps the ports: one folder a technology, none knows another."""
