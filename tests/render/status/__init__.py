"""Tests of how comparisons with reports are shown."""
