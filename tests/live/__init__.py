"""Tests on a real kube-apiserver, which `make test-live` runs."""
