"""What the API calls its kinds: plural and short names, and whether they have a namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import strings_at, text_at
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.values import value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.model.snapshot import Resource

GATEWAY_API: Final = "gateway.networking.k8s.io"
GATEWAY_API_EXPERIMENTAL: Final = "gateway.networking.x-k8s.io"
CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
NAMESPACE: Final = GroupKind("", "Namespace")
SERVICE: Final = GroupKind("", "Service")


@value()
class KindNames:
    """The names by which people refer to a kind on the command line, all in lower case but the kind itself."""

    group_kind: GroupKind
    plural: str
    short_names: tuple[str, ...] = ()
    namespaced: bool = True

    @property
    def singular(self) -> str:
        """The kind in lower case, which is what every API here uses as its singular name."""
        return self.group_kind.kind.lower()


def plural(singular: str) -> str:
    """The plural that Kubernetes' code generators make of a kind: gateways, policies, gatewayclasses."""
    if singular.endswith(("s", "x", "ch", "sh")):
        return singular + "es"
    if singular.endswith("y") and singular[-2:-1] not in {"a", "e", "i", "o", "u", ""}:
        return singular[:-1] + "ies"
    return singular + "s"


# Kinds by group with the short names that `kubectl api-resources` and the CRDs of kubernetes-sigs/gateway-api
# (config/crd) give them; plurals are those that `plural` makes.
_CLUSTER_SCOPED: Final[Mapping[str, Mapping[str, str]]] = {
    "": {"Namespace": "ns", "Node": "no", "PersistentVolume": "pv"},
    CRD.group: {CRD.kind: "crd crds"},
    "rbac.authorization.k8s.io": {"ClusterRole": "", "ClusterRoleBinding": ""},
    "storage.k8s.io": {"StorageClass": "sc"},
    "networking.k8s.io": {"IngressClass": ""},
    "scheduling.k8s.io": {"PriorityClass": "pc"},
    "admissionregistration.k8s.io": {
        "ValidatingWebhookConfiguration": "",
        "MutatingWebhookConfiguration": "",
        "ValidatingAdmissionPolicy": "",
        "ValidatingAdmissionPolicyBinding": "",
    },
    "apiregistration.k8s.io": {"APIService": ""},
    "policy.networking.k8s.io": {
        "AdminNetworkPolicy": "anp",
        "BaselineAdminNetworkPolicy": "banp",
        "ClusterNetworkPolicy": "cnp",
    },
    "cilium.io": {"CiliumClusterwideNetworkPolicy": "ccnp"},
    "cluster.open-cluster-management.io": {"ManagedCluster": "", "ManagedClusterSet": ""},
    GATEWAY_API: {"GatewayClass": "gc"},
}
_NAMESPACED: Final[Mapping[str, Mapping[str, str]]] = {
    "": {"Service": "svc", "Secret": "", "ConfigMap": "cm", "Pod": "po", "ServiceAccount": "sa"},
    "apps": {"Deployment": "deploy"},
    "multicluster.x-k8s.io": {"ServiceImport": "svcim"},
    GATEWAY_API: {
        "Gateway": "gtw",
        "ListenerSet": "lset",
        "HTTPRoute": "",
        "GRPCRoute": "",
        "TLSRoute": "",
        "TCPRoute": "",
        "UDPRoute": "",
        "ReferenceGrant": "refgrant",
        "BackendTLSPolicy": "btlspolicy",
        "BackendLBPolicy": "blbpolicy",
    },
    GATEWAY_API_EXPERIMENTAL: {"XListenerSet": "lset", "XBackendTrafficPolicy": "xbtrafficpolicy"},
}
BUILT_IN: Final = tuple(
    KindNames(GroupKind(group, kind), plural(kind.lower()), tuple(short_names.split()), namespaced=namespaced)
    for namespaced, groups in ((False, _CLUSTER_SCOPED), (True, _NAMESPACED))
    for group, kinds in groups.items()
    for kind, short_names in kinds.items()
)


def names_in_crd(resource: Resource) -> KindNames | None:
    """The names that a CustomResourceDefinition gives to its kind; None if the definition names no kind."""
    kind = text_at(resource.raw, "spec.names.kind")
    if not kind:
        return None
    return KindNames(
        GroupKind(text_at(resource.raw, "spec.group"), kind),
        text_at(resource.raw, "spec.names.plural") or plural(kind.lower()),
        tuple(strings_at(resource.raw, "spec.names.shortNames")),
        text_at(resource.raw, "spec.scope", "Namespaced") != "Cluster",
    )


def known_kinds(definitions: Iterable[Resource]) -> dict[GroupKind, KindNames]:
    """The built-in kinds and those that CustomResourceDefinitions add; a definition beats what is built in."""
    defined = (names_in_crd(definition) for definition in counting_definitions(definitions).values())
    return {names.group_kind: names for names in (*BUILT_IN, *filter(None, defined))}


def counting_definitions(definitions: Iterable[Resource]) -> dict[GroupKind, Resource]:
    """CustomResourceDefinitions by the kinds that they define.

    Of two of one kind the older one counts, then the first by name: an API server accepts no name that is taken.
    """
    counting: dict[GroupKind, Resource] = {}
    for definition in sorted(definitions, key=lambda definition: definition.seniority):
        names = names_in_crd(definition)
        if names:
            counting.setdefault(names.group_kind, definition)
    return counting
