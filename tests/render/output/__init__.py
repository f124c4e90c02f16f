"""Tests of what all renderers share."""
