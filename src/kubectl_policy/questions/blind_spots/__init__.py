"""Blind spots of an answer: kinds, objects and fields that were not read, and the input that would show them."""
