"""Tokens of the `auth-provider` of a user, as old kubeconfigs have it, read by the kubernetes package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubernetes.client import Configuration
from kubernetes.config import ConfigException
from kubernetes.config.kube_config import KubeConfigLoader

if TYPE_CHECKING:
    from kubectl_policy.sources.cluster.reaching.kubeconfig import Entry


def bearer_token(provider: Entry) -> str:
    """The token of an `auth-provider`; as in kubectl, those of clouds have been replaced by credential plugins.

    Raises `ClusterError` if there is none that is still valid. A new one is not asked for: that may use up the one with
    which kubectl would get its next one, and what replaces it would have to be written into the kubeconfig.
    """
    if provider.text("name") != "oidc":
        provider.refuse(
            "name", f"the auth-provider {provider.text('name')} is no more", "use a credential plugin (exec)"
        )
    config = provider.inner("config")
    token = config.text("id-token") if config else ""
    # Without the rest of it, the package cannot ask for another one.
    user = {"auth-provider": {"name": "oidc", "config": {"id-token": token}}}
    unchecked: Any = KubeConfigLoader
    loader = unchecked(
        {
            "current-context": "own",
            "contexts": [{"name": "own", "context": {"cluster": "own", "user": "own"}}],
            "clusters": [{"name": "own", "cluster": {"server": ""}}],
            "users": [{"name": "own", "user": user}],
        }
    )
    configuration = Configuration()
    try:
        loader.load_and_set(configuration)
    # What the package does not check of a token.
    except (ConfigException, AttributeError, TypeError, ValueError, OverflowError, OSError, RecursionError):
        configuration.api_key.clear()
    valid: str = configuration.api_key.get("BearerToken", "").removeprefix("Bearer ")
    if not valid:
        provider.refuse(
            "config", "there is no id-token that is valid", "`kubectl version` gets a new one, or log in again"
        )
    return valid
