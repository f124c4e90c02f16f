"""What files of Kustomize, Flux and Argo CD declare, each by itself, as values."""
