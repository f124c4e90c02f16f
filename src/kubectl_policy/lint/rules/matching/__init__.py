"""Which requests the rules of routes take."""
