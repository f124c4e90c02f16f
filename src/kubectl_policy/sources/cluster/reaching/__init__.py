"""How a cluster is reached: kubeconfigs, credentials, TLS and proxies."""
