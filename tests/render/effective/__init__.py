"""Tests of how what is in force on many objects is shown."""
