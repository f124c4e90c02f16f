"""`lint`, and what a project says of it in its config file."""
