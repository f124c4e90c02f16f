"""Tests of what a policy is attached to."""
