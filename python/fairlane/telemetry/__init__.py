"""Names, instruments and logging."""
