"""Gateways and listeners, and the routes that attach to them: handshakes, conflicts, hostnames, conditions."""
