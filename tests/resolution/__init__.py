"""Tests of merging, precedence, effective policies and enforcement."""
