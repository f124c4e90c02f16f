"""Tests of the answer about a policy kind."""
