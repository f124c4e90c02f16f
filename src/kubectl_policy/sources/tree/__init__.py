"""What Kustomize, Flux, Argo CD and Helm around manifests say about them, where nothing is rendered."""
