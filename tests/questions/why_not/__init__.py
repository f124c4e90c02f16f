"""Tests of why a policy has no effect."""
