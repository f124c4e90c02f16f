"""Tests of network policies, and an independent judge of their verdicts."""
