"""Tests of pictures of the hierarchy."""
