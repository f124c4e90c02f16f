"""Tests of the questions: what their answers hold, as values."""
