"""`graph -o tree`: the hierarchy from GatewayClasses down to ports, folded where it is alike."""
