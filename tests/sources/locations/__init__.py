"""Tests of where things are written."""
