"""Tests of `render/graph`."""
