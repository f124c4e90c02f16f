"""Network policies of all tiers: which connections between workloads, and with addresses outside, they allow."""
