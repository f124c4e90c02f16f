"""What a policy kind is."""
