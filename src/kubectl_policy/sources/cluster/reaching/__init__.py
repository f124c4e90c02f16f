"""Access to clusters: kubeconfigs, credentials, TLS and proxies."""
