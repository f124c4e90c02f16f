"""How the effective settings of an object changed from one state of its manifests to the next."""
