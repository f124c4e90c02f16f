"""Questions about connections of workloads: which are allowed, by which network policies, and what changes them."""
