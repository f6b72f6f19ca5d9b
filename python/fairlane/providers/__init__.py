"""Providers, which workers call: the contract, a simulated one, and OpenAI-compatible chat completions."""
