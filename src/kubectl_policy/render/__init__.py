"""Answers as text and as documents: renderers return what is to be shown, and never print."""
