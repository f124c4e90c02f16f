"""Tests of what is in force on many objects."""
