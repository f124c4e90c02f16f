"""`get effective`: what is in force on many objects, in one table."""
