"""Tests of linting on the command line."""
