"""Tests of what stands around manifests, where nothing is rendered."""
