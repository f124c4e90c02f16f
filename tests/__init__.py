"""The tests of kubectl-policy."""
