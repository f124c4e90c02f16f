"""Tests of `topology/workloads`."""
