"""kubectl's flags about the cluster to ask."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.values import value

if TYPE_CHECKING:
    from collections.abc import Mapping

_NO_EXTRA: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})


@value(kw_only=True)
class ClusterOptions:
    """How a cluster is reached, where that is not as the kubeconfig says; an empty value is a flag that is not set."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    # From here on to `as_user_extra`, the names are those of settings of a kubeconfig, which they replace.
    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool | None = None
    client_certificate: str = ""
    client_key: str = ""
    certificate_authority: str = ""
    disable_compression: bool | None = None
    token: str = ""
    as_: str = ""
    as_group: tuple[str, ...] = ()
    as_uid: str = ""
    as_user_extra: Mapping[str, tuple[str, ...]] = _NO_EXTRA
    # Seconds for all that one command asks of a cluster; 0 is no limit.
    request_timeout: float = 30.0
    cache_dir: str = ""
    # How many objects one answer to a list holds; 0 is all of them.
    chunk_size: int = 0
