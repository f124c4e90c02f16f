"""`graph` as a tree, as DOT and Mermaid, and as a page."""
