"""Tests of how answers about policy kinds are shown."""
