"""Code that several questions share: selection, settings in force, effects of policies, and reasons."""
