"""Uses of an analysis, one module per question; answers are values that a renderer turns into text."""
