"""What a person says of the cluster that is to be asked, in the words of kubectl's flags."""

from __future__ import annotations

from kubectl_policy.model.values import value


@value(kw_only=True)
class ClusterOptions:
    """How a cluster is reached, where that is not as the kubeconfig says; what is empty is not given.

    The `request_timeout` is in seconds, for all that one command asks of a cluster; 0 is no limit. The `chunk_size` is
    how many objects one answer to a list holds; 0 is all of them.
    """

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool | None = None
    client_certificate: str = ""
    client_key: str = ""
    certificate_authority: str = ""
    token: str = ""
    impersonated: str = ""
    impersonated_groups: tuple[str, ...] = ()
    impersonated_uid: str = ""
    impersonated_extra: tuple[tuple[str, str], ...] = ()
    disable_compression: bool = False
    request_timeout: float = 30.0
    cache_dir: str = ""
    chunk_size: int = 0
