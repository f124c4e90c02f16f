"""What rules go by, worked out once for each world."""
