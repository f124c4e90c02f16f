"""What an API server is asked and answers: requests that only read, what it serves, and what changes."""
