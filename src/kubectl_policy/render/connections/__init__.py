"""Answers about connections of workloads as text and tables."""
