"""Declarations in files of Kustomize, Flux and Argo CD, each by itself, as values."""
