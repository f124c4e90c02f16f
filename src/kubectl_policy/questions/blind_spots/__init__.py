"""What an answer could not see, and what would show it."""
