"""Laws that hold for every world, and the comparison with the oracle."""
