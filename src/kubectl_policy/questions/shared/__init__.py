"""What several questions share: what is meant, who affects whom, what is in force, and why not."""
