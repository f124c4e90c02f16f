"""Tests of `render/lint`."""
