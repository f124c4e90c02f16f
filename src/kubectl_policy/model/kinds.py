"""Names of API kinds: plural, singular and short names, and whether a kind is namespaced."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.model.fields import labels_of, strings_at, text_at
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL, KIND_ROWS, TARGET_KINDS
from kubectl_policy.model.refs import GroupKind, ObjectRef
from kubectl_policy.model.snapshot import Problem, Resource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence


CRD: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
# GEP-713, "Policy CRD label": `gateway.networking.k8s.io/policy: direct | inherited`; older definitions say `true`.
POLICY_LABEL: Final = "gateway.networking.k8s.io/policy"

# The API groups that an API server serves without any definition.
_OF_KUBERNETES: Final = frozenset(
    {
        *("", "apps", "autoscaling", "batch", "extensions", "policy", "admissionregistration.k8s.io"),
        *("apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io"),
        *("certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io"),
        *("flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "lifecycle.k8s.io", "networking.k8s.io"),
        *("node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io"),
        "storagemigration.k8s.io",
    }
)
# As validation of CustomResourceDefinitions has it: a label of RFC 1035 in any case, and a subdomain of RFC 1123.
_KIND: Final = pattern(r"[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?")
_GROUP: Final = pattern(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


class KindNames(Struct, frozen=True):
    """The names of a kind on the command line, all in lower case except for the kind itself."""

    group_kind: GroupKind
    plural: Annotated[str, Meta(description="The plural name; derived from the kind if no definition was read.")]
    short_names: Annotated[tuple[str, ...], Meta(description="The short names.")] = ()
    namespaced: bool = True

    @property
    def singular(self) -> Annotated[str, Meta()]:
        """The singular name: the kind in lower case."""
        return self.group_kind.kind.lower()


def plural(singular: str) -> str:
    """Return the plural that Kubernetes' code generators make of a kind: gateways, policies, gatewayclasses."""
    if singular.endswith(("s", "x", "ch", "sh")):
        return singular + "es"
    if singular.endswith("y") and singular[-2:-1] not in {"a", "e", "i", "o", "u", ""}:
        return singular[:-1] + "ies"
    return singular + "s"


def listed(names: Sequence[str], limit: int = 0, rest: str = "more") -> str:
    """Join names: `a`, `a and b`, `a, b and c`; beyond a limit, count the remaining ones: `a, b and 9 more`."""
    if 0 < limit < len(names):
        names = [*names[: limit - 1], f"{len(names) - limit + 1:,} {rest}"]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


# The most objects that one sentence names.
_MAX_NAMES: Final = 4


def names(refs: Collection[ObjectRef]) -> str:
    """Name objects: `RetryPolicy a/b and RetryPolicy a/c`; of many, name the first ones and count the others."""
    return listed([str(ref) for ref in refs], _MAX_NAMES, "others")


# Letters whose names begin with a vowel sound, and beginnings whose vowel is spoken as a consonant.
_SPELT: Final = frozenset("AEFHILMNORSX")
_SPOKEN_AS_YOU: Final = ("uni", "use", "usa", "uti")


def with_article(name: str) -> str:
    """Return a kind with its indefinite article: `a Gateway`, `an HTTPRoute`, `a UDPRoute`, `an UpstreamPolicy`."""
    folded = name.lower()
    if name[:2].isupper() or folded.startswith("http"):
        vowel = name[:1].upper() in _SPELT
    else:
        vowel = folded[:1] in {"a", "e", "i", "o", "u"} and not folded.startswith(_SPOKEN_AS_YOU)
    return f"{'an' if vowel else 'a'} {name}"


# Further kinds by group, with the short names that `kubectl api-resources` and the definitions of
# kubernetes-sigs/gateway-api (config/crd) give them; plurals are those that `plural` makes.
_CLUSTER_SCOPED: Final[Mapping[str, Mapping[str, str]]] = {
    "": {"Node": "no", "PersistentVolume": "pv"},
    CRD.group: {CRD.kind: "crd crds"},
    "rbac.authorization.k8s.io": {"ClusterRole": "", "ClusterRoleBinding": ""},
    "certificates.k8s.io": {"ClusterTrustBundle": ""},
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
    "crd.antrea.io": {"ClusterNetworkPolicy": "acnp"},
    "crd.projectcalico.org": {"GlobalNetworkPolicy": "", "StagedGlobalNetworkPolicy": ""},
    "networking.k8s.aws": {"ClusterNetworkPolicy": "cnp"},
    "projectcalico.org": {"GlobalNetworkPolicy": "gnp cgnp", "StagedGlobalNetworkPolicy": "sgnp"},
    "cluster.open-cluster-management.io": {"ManagedCluster": "", "ManagedClusterSet": ""},
}
_NAMESPACED: Final[Mapping[str, Mapping[str, str]]] = {
    "": {"Secret": "", "ConfigMap": "cm", "ServiceAccount": "sa"},
    GATEWAY_API: {"ReferenceGrant": "refgrant", "BackendTLSPolicy": "btlspolicy", "BackendLBPolicy": "blbpolicy"},
    GATEWAY_API_EXPERIMENTAL: {"XBackendTrafficPolicy": "xbtrafficpolicy", "XTelemetryPolicy": ""},
}


def _built_in(kind: GroupKind, short_names: str, *, namespaced: bool) -> KindNames:
    return KindNames(kind, plural(kind.kind.lower()), tuple(short_names.split()), namespaced=namespaced)


BUILT_IN: Final = (
    *(_built_in(row.group_kind, row.short_names, namespaced=row.namespaced) for row in KIND_ROWS),
    *(
        _built_in(GroupKind(group, kind), short_names, namespaced=namespaced)
        for namespaced, groups in ((False, _CLUSTER_SCOPED), (True, _NAMESPACED))
        for group, kinds in groups.items()
        for kind, short_names in kinds.items()
    ),
)


@lru_cache(maxsize=1_000)
def why_impossible(group_kind: GroupKind) -> str:
    """Return why no API can have such a kind, as words that follow "no API can have"; "" if one can."""
    group, kind = group_kind.group, group_kind.kind
    if not _KIND.fullmatch(kind):
        return f"a kind like '{kind}'"
    return f"a group like '{group}'" if group and not _GROUP.fullmatch(group) else ""


def is_kubernetes_own(group_kind: GroupKind) -> bool:
    """Whether an API server serves a kind without any definition of it."""
    return group_kind.group in _OF_KUBERNETES


def problem_of_definition(definition: Resource) -> Problem | None:
    """Find what does not count in a CustomResourceDefinition: all of it, or its policy label."""
    kind = _defined(definition)
    reason = why_impossible(kind)
    if kind.kind and reason:
        message = f"no API can have {reason}, so this definition is ignored: it takes letters, digits and hyphens"
        return Problem(message=message, reason="definition-refused")
    if kind.kind and is_kubernetes_own(kind):
        message = f"{kind} is a kind of Kubernetes itself, so what this definition says about it is ignored"
        return Problem(message=message, reason="definition-refused")
    if kind in TARGET_KINDS and POLICY_LABEL in labels_of(definition.raw):
        label = f"the label {POLICY_LABEL}, which makes it a policy kind, is ignored"
        return Problem(message=f"{kind} is a kind that policies target, so {label}", reason="policy-label")
    return None


def _defined(definition: Resource) -> GroupKind:
    return GroupKind(text_at(definition.raw, "spec.group"), text_at(definition.raw, "spec.names.kind"))


def names_in_crd(resource: Resource) -> KindNames | None:
    """Return the names that a CustomResourceDefinition gives to its kind; None if it cannot define that kind."""
    group_kind = _defined(resource)
    if is_kubernetes_own(group_kind) or why_impossible(group_kind):
        return None
    return KindNames(
        group_kind,
        text_at(resource.raw, "spec.names.plural") or plural(group_kind.kind.lower()),
        tuple(strings_at(resource.raw, "spec.names.shortNames")),
        text_at(resource.raw, "spec.scope", "Namespaced") != "Cluster",
    )


def known_kinds(definitions: Iterable[Resource]) -> dict[GroupKind, KindNames]:
    """Return the built-in kinds and those that CustomResourceDefinitions add; a definition replaces a built-in kind."""
    defined = (names_in_crd(definition) for definition in valid_definitions(definitions).values())
    return {names.group_kind: names for names in (*BUILT_IN, *filter(None, defined))}


def valid_definitions(definitions: Iterable[Resource]) -> dict[GroupKind, Resource]:
    """Return the CustomResourceDefinitions that count, by the kinds that they define.

    Of two for one kind the older one counts, then the first by name: an API server accepts no name that is taken.
    """
    counting: dict[GroupKind, Resource] = {}
    for definition in sorted(definitions, key=lambda definition: definition.seniority):
        names = names_in_crd(definition)
        if names:
            counting.setdefault(names.group_kind, definition)
    return counting
