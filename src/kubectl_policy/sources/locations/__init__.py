"""Files and lines in which objects, fields and comments are written, also of rendered objects, and their authors."""
