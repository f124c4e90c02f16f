"""Policies that conflict, or of which nothing or not all is in force."""
