"""How policies of a kind decide about connections of Pods: the fields that select Pods, and the order of policies."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.profiles.reading import FieldName, Name

Direction: TypeAlias = Literal["ingress", "egress"]


class SubjectFields(Struct, frozen=True, kw_only=True, rename="camel"):
    """A map in policies whose fields select Pods together."""

    field: FieldName
    """The map that has the fields; the path continues into each element of a list."""
    pods: FieldName = ""
    """A selector of Pods in the map. Without it: all Pods."""
    namespaces: FieldName = ""
    """A selector of namespaces in the map. Without it: the namespaces of `connections.scope`."""
    nodes: FieldName = ""
    """A selector of Nodes in the map: the policy then applies to these, and may apply to Pods on their network. Without
    it: no such field.
    """
    uncomputed: tuple[FieldName, ...] = ()
    """Further fields of the map that select Pods, in a way that is not computed: a policy with one of them may apply to
    any of the Pods that the other fields select. Without it: no such fields.
    """
    without: Literal["everything", "nothing"] = "everything"
    """The meaning of a map without any of these fields: it selects `everything`, or `nothing`."""


class ConnectionProfile(Struct, frozen=True, kw_only=True, rename="camel"):
    """How policies of a kind allow and deny connections of Pods."""

    subjects: Annotated[tuple[SubjectFields, ...], Meta(min_length=1)]
    """The fields that select the Pods to which a policy applies; it applies to Pods that any of these maps select."""
    scope: Literal["namespace", "cluster"] = "namespace"
    """Whether a policy applies to Pods in its own `namespace`, or in the whole `cluster`."""
    selectors: Literal["labels", "expressions"] = "labels"
    """The form of selectors: `labels` (`matchLabels`, `matchExpressions`), or `expressions`, such as `app == 'web' &&
    has(team)`. Of expressions, comparisons that are joined by `&&` are computed; with any other one, a policy may apply
    to any Pod.
    """
    key_prefixes: tuple[Name, ...] = ()
    """Prefixes that keys in selectors can have: `k8s:app` is the label `app`. Without it: none."""
    namespace_keys: frozenset[Name] = frozenset()
    """Keys in selectors of policies for the whole cluster that stand for the name of a namespace. Without it: none."""
    other_keys: tuple[Name, ...] = ()
    """The beginnings of keys in selectors that are no labels of Pods or namespaces: what they select is not computed.
    Without it: none.
    """
    directions: frozenset[Direction] = frozenset({"ingress", "egress"})
    """The directions about which policies decide: `ingress`, `egress`. Without it: both."""
    peers: Literal["any", "outside"] = "any"
    """Whether policies decide about connections with `any` peer, or only with addresses `outside` of the cluster."""
    enforced: bool = True
    """Whether policies have an effect on connections; if not, they are only drafts that are staged."""
    tier: Literal["Admin", "NetworkPolicy", "Baseline"] | None = None
    """The tier of policies of the kind: `Admin`, `NetworkPolicy` or `Baseline`, in the order in which they are asked.
    Without it: the tier is in a field, or there are none.
    """
    tier_field: FieldName = ""
    """The field with the name of the tier of a policy. Without it: no such field."""
    priority_field: FieldName = ""
    """The field with a number that orders the policies of a tier, the lowest first. Without it: policies add up."""
