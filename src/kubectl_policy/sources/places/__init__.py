"""Where objects, fields and comments are written in files and revisions, also of what was rendered, and by whom."""
