"""The commands of the command line, one function each."""
