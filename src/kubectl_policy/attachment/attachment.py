"""Attachment of a policy by one reference; the states of attachments and their meanings; objects that it needs."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.model.fields import WHOLE, FieldPath
from kubectl_policy.model.refs import GroupKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, NodeRef, ObjectRef, Severity
    from kubectl_policy.profiles.controllers import Event
    from kubectl_policy.profiles.needs import RequiredObject

Way: TypeAlias = Literal["reference", "filter", "backend filter", "parameters"]
State: TypeAlias = Literal[
    "attached",
    "target missing",
    "target unknown",
    "section missing",
    "not permitted",
    "kind unsupported",
    "not managed",
    "policy invalid",
    "target invalid",
    "not enabled",
    "target overlaps",
    "filter unsupported",
    "not computed",
]


# In these, a reference is to nothing that its policy could have an effect on, whatever else the policy says.
WITHOUT_TARGET: Final[frozenset[State]] = frozenset(
    {"target missing", "section missing", "kind unsupported", "not managed"}
)


class TargetReference(Struct, frozen=True):
    """One reference to a target as it is declared."""

    # The path in the policy (`spec.targetRefs[0]`) or in `named_by`. If empty, nothing is known to be declared,
    # but objects of that kind and namespace were not read.
    field: str
    group: str
    kind: str
    name: str = ""
    # Empty where the reference names none.
    namespace: str = ""
    section: str = ""
    # The labels by which the reference selects objects of the kind; None for a reference by name.
    selector: Mapping[str, Json] | None = None
    # The namespaces that the selector lets in (`from: Same | All | Selector`); None for its own namespace.
    namespaces: Mapping[str, Json] | None = None
    # The object that names the policy: a route in a filter, or a Gateway or GatewayClass as its parameters.
    named_by: ObjectRef | None = None
    # The position of the filter among those of its rule or backendRef, from 1; 0 if there is none, or it does not
    # count.
    filter_position: int = 0
    # Members of the selector about which nothing is known.
    unknown: tuple[str, ...] = ()
    way: Way = "reference"
    # The rule for whose requests alone it counts, if a filter of a backendRef names the policy.
    rule: NodeRef | None = None

    @property
    def group_kind(self) -> GroupKind:
        """The kind that is named. Istio's documentation writes the core group as "core"; no API group has that name."""
        return GroupKind("" if self.group == "core" else self.group, self.kind)


class IgnoredSetting(Struct, frozen=True):
    """A setting of a policy that controllers ignore, wherever the policy is attached."""

    field: FieldPath
    """The path of the setting in the policy."""
    reason: str


class Attachment(Struct, frozen=True, gc=False):
    """One target reference of a policy and its state.

    A target is "not managed" if another controller acts on it, and "invalid" if it is a Gateway that controllers ignore
    as invalid; a "target overlaps" if a route of the policy shares requests with one that it does not target. A
    "policy invalid" lacks something that it needs; it is "not enabled" if the parameters of every Gateway of the target
    say so.
    A "filter unsupported" may not name the policy's kind. "Not computed" is what a policy other than a filter changes
    for one backend of a rule alone.
    """

    policy: Annotated[ObjectRef, Meta(description="The policy.")]
    target: Annotated[
        NodeRef | None,
        Meta(description="The named target, whether or not it exists; null if a selector selects no object."),
    ]
    declared: TargetReference
    state: Annotated[State, Meta(description="The state of the reference: attached, or the reason why not.")]
    message: Annotated[
        str,
        Meta(
            description="The reason why the policy is not attached, or a note on the reference; empty if there is none."
        ),
    ] = ""
    virtual: Annotated[bool, Meta(description="True if no API serves the kind of the target.")] = False
    competes: bool = False
    """Whether the policy keeps others out of the target although it has failed."""
    doubtful: bool = False
    """Whether the reference says more than is understood: it may be for a part of its target, or for another one."""
    fails_requests: bool = False
    """Whether requests to the target get an error response until the policy is fixed."""
    ignored: tuple[IgnoredSetting, ...] = ()
    """Settings of an attached policy that controllers ignore."""

    @property
    def declared_in(self) -> Annotated[str, Meta()]:
        """The field with the reference, in the policy or in the object of namedBy: spec.targetRefs[0]."""
        return self.declared.field

    @property
    def named_by(self) -> Annotated[ObjectRef | None, Meta()]:
        """The object that names the policy; null if the policy names its target itself.

        The object is a route that names the policy in a filter, or a Gateway or GatewayClass that names its parameters.
        """
        return self.declared.named_by


class Meaning(Struct, frozen=True):
    """The name of a state of an attachment, and what follows from it."""

    # The rule of the diagnostic; an ordinary attachment has one only if no API serves its target.
    rule: str
    # The reason that `why-not` gives.
    why: str = ""
    # What the kind's controllers would report, if anything.
    event: Event | None = None
    # The severity of the diagnostic.
    severity: Severity = "error"
    api_reason: str = ""
    # False if something that was not read, or is not computed, may make it another state.
    known: bool = True
    # Whether controllers that report on targets name the policy there.
    on_target: bool = True


# "not permitted" has more than one reason why not; see `questions.why_not`.
MEANINGS: Final[Mapping[State, Meaning]] = MappingProxyType(
    {
        "attached": Meaning("virtual-target", severity="info"),
        "target missing": Meaning(
            "target-missing", "target-missing", "target missing", api_reason="TargetNotFound", on_target=False
        ),
        "target unknown": Meaning("target-unknown", "target-unknown", severity="info", known=False, on_target=False),
        "section missing": Meaning(
            "section-missing", "section-missing", "section missing", api_reason="TargetNotFound", on_target=False
        ),
        "not permitted": Meaning("target-not-permitted", event="not permitted"),
        "kind unsupported": Meaning("target-kind-unsupported", "kind-unsupported", "kind unsupported", on_target=False),
        "not managed": Meaning("target-not-managed", "other-controller", severity="warning", on_target=False),
        "policy invalid": Meaning("policy-invalid", "policy-invalid", "invalid"),
        "target invalid": Meaning("target-invalid", "target-invalid", "target invalid"),
        "not enabled": Meaning("target-not-enabled", "not-enabled", "not enabled"),
        "target overlaps": Meaning("target-overlaps", "target-overlaps", "overlapping"),
        "filter unsupported": Meaning("filter-unsupported", "filter-unsupported", "filter unsupported"),
        "not computed": Meaning(
            "attachment-not-computed", "not-computed", "not computed", severity="info", known=False
        ),
    }
)


class NotAttached(Struct, frozen=True):
    """A failure of a reference: the state of the attachment and the message for people."""

    state: State
    message: str
    competes: bool = False
    fails_requests: bool = False

    def attachment(self, policy: ObjectRef, declared: TargetReference, target: NodeRef | None = None) -> Attachment:
        """Return the attachment of a policy that fails for this reason."""
        return Attachment(
            policy=policy,
            target=target,
            declared=declared,
            state=self.state,
            message=self.message,
            competes=self.competes,
            fails_requests=self.fails_requests,
        )


class NamedNeed(Struct, frozen=True):
    """A reference in a policy, or in an object that it refers to, to an object that its profile requires."""

    owner: ObjectRef
    field: str
    ref: ObjectRef
    need: RequiredObject
    # Whether the policy stays valid without the object: only the setting is ignored, or what follows is not
    # known.
    tolerated: bool
    # Whether the namespace of the object is not known, so that another one may be meant.
    guessed: bool = False
    # The reference of the policy itself that names the object, or leads to it.
    reference: FieldPath = WHOLE
    # The setting of the policy that controllers ignore without the object; None if they ignore none.
    setting: FieldPath | None = None
