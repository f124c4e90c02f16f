"""What is wrong in a world, or may be: rules, what they find, and what of that counts."""
