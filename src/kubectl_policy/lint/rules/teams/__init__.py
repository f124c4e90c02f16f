"""What teams want to hold, and what a change makes worse."""
