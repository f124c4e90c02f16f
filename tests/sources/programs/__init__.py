"""Rendering by the programs of Kustomize, Flux, Argo CD and Helm."""
