"""Tests of what differs between states."""
