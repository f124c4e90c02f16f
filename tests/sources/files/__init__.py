"""Tests of trees of files."""
