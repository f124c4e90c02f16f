"""Rules about policies: their targets, attachments, conflicts and merging."""
