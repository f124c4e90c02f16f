"""Tests of what is known of each policy kind."""
