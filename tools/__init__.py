"""What the project needs and does not ship."""
