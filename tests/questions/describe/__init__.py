"""Tests of what describe answers."""
