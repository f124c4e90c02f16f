"""Rules about routes: their parents, hostnames, matches, redirects and retries."""
