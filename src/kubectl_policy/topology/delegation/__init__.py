"""Routes that hand requests on to other routes: by which references, with which matches, in which order."""
