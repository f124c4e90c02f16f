"""Programs that are installed: run in copies of files, within limits, with their output kept."""
