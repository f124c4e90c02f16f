"""How routes attach to listeners: what a listener accepts, the handshake, conflicts, hostnames."""
