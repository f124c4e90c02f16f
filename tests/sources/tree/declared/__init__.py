"""Tests of what single files of Kustomize, Flux and Argo CD declare."""
