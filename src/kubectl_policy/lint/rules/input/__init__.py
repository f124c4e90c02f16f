"""What was read: what of it was not read as it was meant, and what the linter was told."""
