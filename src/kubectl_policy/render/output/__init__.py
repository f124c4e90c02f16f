"""The forms of an answer: text for a terminal, columns, documents, and text from the input made harmless."""
