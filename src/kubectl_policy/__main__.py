"""`python -m kubectl_policy` is `kubectl-policy`."""

from kubectl_policy.cli import main

if __name__ == "__main__":
    main()
