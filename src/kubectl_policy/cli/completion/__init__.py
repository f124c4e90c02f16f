"""Completion: from the words before the cursor to candidates, in the protocol of kubectl and of cobra's scripts."""
