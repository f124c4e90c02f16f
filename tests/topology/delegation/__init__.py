"""Tests of routes that delegate to routes."""
