"""Tests of the words that several renderers use."""
