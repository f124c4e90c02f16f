"""Tests of what several questions share."""
