"""Tests of `render/history`."""
