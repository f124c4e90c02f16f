"""`explain` as text: statements about a policy kind, and drafts of profiles."""
