"""What affects an object, or what a policy affects."""
