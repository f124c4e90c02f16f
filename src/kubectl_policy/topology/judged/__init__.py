"""Judgements of objects: conditions that controllers should write, references that lead nowhere, wrong types."""
