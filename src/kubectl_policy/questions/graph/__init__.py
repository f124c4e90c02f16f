"""`graph`: the hierarchy with its policies, or a part of it, as a picture shows it."""
