"""Decode Pods, Nodes and the controllers of Pods: only the fields that questions need, of objects that are long."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec
from msgspec import Struct, field

from kubectl_policy.model.kind_roles import CRON_JOB, NODE, POD, WORKLOADS
from kubectl_policy.text.json_reader import decode_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_policy.model import GroupKind, Json

# Annotations that this program reads itself, such as those that suppress findings.
_OWN_ANNOTATIONS: Final = "policy.kubectl.dev"


# A field that is not here is dropped, and null is the same as no field. Fields have the types that an API server gives
# them: an answer with other ones is decoded whole.
class _Fields(Struct, omit_defaults=True, gc=False, rename="camel"):
    pass


class _Owner(_Fields):
    api_version: str | None = None
    kind: str | None = None
    name: str | None = None
    uid: str | None = None
    controller: bool | None = None


class _Metadata(_Fields):
    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    creation_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[_Owner] | None = None

    def __post_init__(self) -> None:
        if self.annotations:
            self.annotations = {key: text for key, text in self.annotations.items() if _OWN_ANNOTATIONS in key} or None


class _Port(_Fields):
    name: str | None = None
    container_port: int | None = None
    protocol: str | None = None


class _Container(_Fields):
    name: str | None = None
    # `Always` makes an init container a sidecar.
    restart_policy: str | None = None
    ports: list[_Port] | None = None


class _PodSpec(_Fields):
    node_name: str | None = None
    host_network: bool | None = None
    service_account_name: str | None = None
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None


class _PodAddress(_Fields):
    ip: str | None = None


class _PodStatus(_Fields):
    phase: str | None = None
    pod_ip: str | None = field(name="podIP", default=None)
    pod_ips: list[_PodAddress] | None = field(name="podIPs", default=None)
    host_ip: str | None = field(name="hostIP", default=None)


class _Object(_Fields):
    api_version: str | None = None
    kind: str | None = None
    metadata: _Metadata | None = None


class _Pod(_Object):
    spec: _PodSpec | None = None
    status: _PodStatus | None = None


class _NodeAddress(_Fields):
    type: str | None = None
    address: str | None = None


class _NodeStatus(_Fields):
    addresses: list[_NodeAddress] | None = None


class _Node(_Object):
    status: _NodeStatus | None = None


class _Requirement(_Fields):
    key: str | None = None
    operator: str | None = None
    values: list[str] | None = None


class _Selector(_Fields):
    match_labels: dict[str, str] | None = None
    match_expressions: list[_Requirement] | None = None


class _Template(_Fields):
    metadata: _Metadata | None = None
    spec: _PodSpec | None = None


class _ControllerSpec(_Fields):
    replicas: int | None = None
    selector: _Selector | None = None
    template: _Template | None = None


class _Controller(_Object):
    spec: _ControllerSpec | None = None


class _JobTemplate(_Fields):
    metadata: _Metadata | None = None
    spec: _ControllerSpec | None = None


class _CronJobSpec(_Fields):
    job_template: _JobTemplate | None = None


class _CronJob(_Object):
    spec: _CronJobSpec | None = None


class _ListMetadata(_Fields):
    resource_version: str | None = None
    continue_: str | None = field(name="continue", default=None)


_Item = TypeVar("_Item", bound=_Object)


class _List(_Fields, Generic[_Item]):
    items: list[_Item]
    api_version: str | None = None
    kind: str | None = None
    metadata: _ListMetadata | None = None


_TYPES: Final[Mapping[GroupKind, type[_Object]]] = {
    **dict.fromkeys(WORKLOADS, _Controller),
    POD: _Pod,
    CRON_JOB: _CronJob,
    NODE: _Node,
}


def decoder_of(kind: GroupKind, *, lists: bool) -> Callable[[bytes | bytearray], Json]:
    """Return the function that decodes an object of a kind, or a list of such objects."""
    return _decoder(_TYPES[kind], lists) if kind in _TYPES else decode_json


@cache
def _decoder(object_type: type[_Object], lists: bool) -> Callable[[bytes | bytearray], Json]:  # noqa: FBT001 (cached)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_List[object_type] if lists else object_type)  # type: ignore[valid-type] # (one of the types above)

    def decode(data: bytes | bytearray) -> Json:
        try:
            decoded: Json = msgspec.to_builtins(decoder.decode(data))
        except (msgspec.DecodeError, RecursionError):
            return decode_json(data)
        return decoded

    return decode
