"""Tests of the values that everything else is made of."""
