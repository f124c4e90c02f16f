"""Commands that ask clusters: one, several, or one that is watched."""
