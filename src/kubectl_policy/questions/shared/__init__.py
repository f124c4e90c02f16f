"""What several questions share: what is meant, who affects whom, what is in force, what was not seen."""
