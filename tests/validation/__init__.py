"""Tests of what an API server would refuse."""
