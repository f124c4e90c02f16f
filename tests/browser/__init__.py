"""The page of `graph -o html` in a browser: what somebody sees there who clicks, types, prints, or is up to no good."""
