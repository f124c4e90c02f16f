"""Tests of what answers could not see."""
