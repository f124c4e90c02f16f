"""What the API calls its kinds: plural and short names, and whether they have a namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import strings_at, text_at
from kubectl_policy.model.refs import GroupKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model.snapshot import Resource

GATEWAY_API: Final = "gateway.networking.k8s.io"
GATEWAY_API_EXPERIMENTAL: Final = "gateway.networking.x-k8s.io"
CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
NAMESPACE: Final = GroupKind("", "Namespace")
SERVICE: Final = GroupKind("", "Service")


class KindNames(NamedTuple):
    """The names by which people refer to a kind on the command line, all in lower case but the kind itself."""

    group_kind: GroupKind
    plural: str
    short_names: tuple[str, ...] = ()
    namespaced: bool = True

    @property
    def singular(self) -> str:
        """The kind in lower case, which is what every API here uses as its singular name."""
        return self.group_kind.kind.lower()


def _core(kind: str, plural: str, *short_names: str, namespaced: bool = True) -> KindNames:
    return KindNames(GroupKind("", kind), plural, short_names, namespaced)


def _gateway(kind: str, plural: str, *short_names: str, namespaced: bool = True) -> KindNames:
    return KindNames(GroupKind(GATEWAY_API, kind), plural, short_names, namespaced)


# Short names as in the CRDs of kubernetes-sigs/gateway-api (config/crd) and in `kubectl api-resources`.
BUILT_IN: Final[tuple[KindNames, ...]] = (
    _core("Namespace", "namespaces", "ns", namespaced=False),
    _core("Node", "nodes", "no", namespaced=False),
    _core("PersistentVolume", "persistentvolumes", "pv", namespaced=False),
    _core("Service", "services", "svc"),
    _core("Secret", "secrets"),
    _core("ConfigMap", "configmaps", "cm"),
    _core("Pod", "pods", "po"),
    _core("ServiceAccount", "serviceaccounts", "sa"),
    KindNames(GroupKind("apps", "Deployment"), "deployments", ("deploy",)),
    KindNames(CRD, "customresourcedefinitions", ("crd", "crds"), namespaced=False),
    KindNames(GroupKind("rbac.authorization.k8s.io", "ClusterRole"), "clusterroles", (), namespaced=False),
    KindNames(
        GroupKind("rbac.authorization.k8s.io", "ClusterRoleBinding"), "clusterrolebindings", (), namespaced=False
    ),
    KindNames(GroupKind("storage.k8s.io", "StorageClass"), "storageclasses", ("sc",), namespaced=False),
    KindNames(GroupKind("networking.k8s.io", "IngressClass"), "ingressclasses", (), namespaced=False),
    KindNames(GroupKind("scheduling.k8s.io", "PriorityClass"), "priorityclasses", ("pc",), namespaced=False),
    KindNames(
        GroupKind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        "validatingwebhookconfigurations",
        (),
        namespaced=False,
    ),
    KindNames(
        GroupKind("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        "mutatingwebhookconfigurations",
        (),
        namespaced=False,
    ),
    KindNames(
        GroupKind("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        "validatingadmissionpolicies",
        (),
        namespaced=False,
    ),
    KindNames(
        GroupKind("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        "validatingadmissionpolicybindings",
        (),
        namespaced=False,
    ),
    KindNames(GroupKind("apiregistration.k8s.io", "APIService"), "apiservices", (), namespaced=False),
    KindNames(
        GroupKind("policy.networking.k8s.io", "AdminNetworkPolicy"), "adminnetworkpolicies", ("anp",), namespaced=False
    ),
    KindNames(
        GroupKind("policy.networking.k8s.io", "BaselineAdminNetworkPolicy"),
        "baselineadminnetworkpolicies",
        ("banp",),
        namespaced=False,
    ),
    KindNames(
        GroupKind("policy.networking.k8s.io", "ClusterNetworkPolicy"),
        "clusternetworkpolicies",
        ("cnp",),
        namespaced=False,
    ),
    KindNames(
        GroupKind("cilium.io", "CiliumClusterwideNetworkPolicy"),
        "ciliumclusterwidenetworkpolicies",
        ("ccnp",),
        namespaced=False,
    ),
    KindNames(
        GroupKind("cluster.open-cluster-management.io", "ManagedCluster"), "managedclusters", (), namespaced=False
    ),
    KindNames(
        GroupKind("cluster.open-cluster-management.io", "ManagedClusterSet"), "managedclustersets", (), namespaced=False
    ),
    KindNames(GroupKind("multicluster.x-k8s.io", "ServiceImport"), "serviceimports", ("svcim",)),
    _gateway("GatewayClass", "gatewayclasses", "gc", namespaced=False),
    _gateway("Gateway", "gateways", "gtw"),
    _gateway("ListenerSet", "listenersets", "lset"),
    KindNames(GroupKind(GATEWAY_API_EXPERIMENTAL, "XListenerSet"), "xlistenersets", ("lset",)),
    _gateway("HTTPRoute", "httproutes"),
    _gateway("GRPCRoute", "grpcroutes"),
    _gateway("TLSRoute", "tlsroutes"),
    _gateway("TCPRoute", "tcproutes"),
    _gateway("UDPRoute", "udproutes"),
    _gateway("ReferenceGrant", "referencegrants", "refgrant"),
    _gateway("BackendTLSPolicy", "backendtlspolicies", "btlspolicy"),
    _gateway("BackendLBPolicy", "backendlbpolicies", "blbpolicy"),
    KindNames(
        GroupKind(GATEWAY_API_EXPERIMENTAL, "XBackendTrafficPolicy"), "xbackendtrafficpolicies", ("xbtrafficpolicy",)
    ),
)


def plural(singular: str) -> str:
    """The plural that Kubernetes' code generators make of a kind: gateways, policies, gatewayclasses."""
    if singular.endswith(("s", "x", "ch", "sh")):
        return singular + "es"
    if singular.endswith("y") and singular[-2:-1] not in {"a", "e", "i", "o", "u", ""}:
        return singular[:-1] + "ies"
    return singular + "s"


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
