"""Adapting the pool's capacity to what the provider takes."""
