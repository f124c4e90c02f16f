"""Rules about network policies of all tiers, a module for each group of them."""
