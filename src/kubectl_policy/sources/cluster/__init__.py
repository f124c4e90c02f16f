"""A cluster as a source: how it is reached, what it serves, and the objects that a question asks for."""
