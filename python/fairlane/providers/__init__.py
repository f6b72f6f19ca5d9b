"""What a worker calls: the contract, and a simulated provider that needs no network."""
