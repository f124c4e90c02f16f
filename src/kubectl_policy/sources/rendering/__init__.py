"""Rendering: Kustomize, Flux and Helm applied by their own programs, in a copy and without network."""
