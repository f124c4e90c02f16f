"""What controllers reported, against what is computed."""
