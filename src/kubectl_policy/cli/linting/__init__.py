"""Input, settings and output of `lint`."""
