"""Tests of how the reasons for no effect are shown."""
