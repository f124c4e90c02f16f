"""How fast the command is, against budgets."""
