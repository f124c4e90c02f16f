"""Tests of questions about connections of workloads."""
