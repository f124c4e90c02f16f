"""How routes come to listeners: what a listener accepts, the handshake, conflicts, hostnames."""
