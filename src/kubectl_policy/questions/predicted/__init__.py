"""The conditions that the controllers of policy kinds would report."""
