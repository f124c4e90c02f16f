"""Tests of rules about network policies."""
