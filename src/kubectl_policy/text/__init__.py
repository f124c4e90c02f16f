"""One reader of text: YAML and JSON as kubectl has them, with the places of values; no files and no kinds."""
