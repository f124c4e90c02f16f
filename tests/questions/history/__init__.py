"""Tests of `questions/history`."""
