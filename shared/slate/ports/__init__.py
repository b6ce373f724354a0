"""What the outside must offer: small protocols that adapters keep and services are given."""
