"""What would explain that a report is not as computed, as far as the input shows it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.questions.predicted.vocabulary import is_assumed
from kubectl_policy.questions.shared.reported import has_report, reported_places
from kubectl_policy.topology.controllers import controller_of
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, LISTENER_SETS

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.status.comparison import Comparison, Explanation


class Explainer:
    """Explains the disagreements in one analysis; what they share is looked up once."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self._analysis = analysis
        self._silent: dict[tuple[GroupKind, frozenset[str]], bool] = {}

    def of_policy(self, found: Comparison, profile: PolicyKindProfile) -> Explanation:
        """The likeliest explanation of a disagreement about a policy, or about what policies of a kind affect."""
        if found.stale:
            return "older generation"
        by_class = self._by_class(found.at, profile.controllers)
        if by_class:
            return by_class
        if found.verdict == "not reported" and self._is_silent(profile.group_kind, profile.controllers):
            return "silent controller"
        if profile.approximate:
            return "approximate profile"
        if profile.known_by != "profile":
            return "inferred profile"
        return "assumed status" if is_assumed(profile) else self._rest

    def of_object(self, found: Comparison, owner: ObjectRef, kind: GroupKind, *, in_spec: bool) -> Explanation:
        """The likeliest explanation of a disagreement about an object of a kind that is no policy, or a part of one.

        `owner` is the Gateway or ListenerSet whose controller reports it; anything else is not told apart. What is
        reported is `in_spec` if the object's spec names the parent or listener that it is about.
        """
        if found.stale:
            return "older generation"
        if not in_spec:
            return "not in spec"
        if owner.group_kind not in (GATEWAY, *LISTENER_SETS):
            return self._rest
        controller = controller_of(self._analysis.topology, owner)
        if controller is None:
            return "class unread"
        if not controller or controller in self._refused:
            return "no class"
        silent = found.verdict == "not reported" and self._is_silent(kind, frozenset({controller}))
        return "silent controller" if silent else self._rest

    @property
    def _rest(self) -> Explanation:
        return "input incomplete" if self._analysis.snapshot.gaps else "none"

    def _by_class(self, at: NodeRef | None, controllers: frozenset[str]) -> Explanation | None:
        """What the GatewayClasses in the input explain; nothing where it is not known who acts on a kind."""
        if not controllers:
            return None
        classes = self._analysis.index.of_kind(GATEWAY_CLASS)
        if not classes:
            return "no class" if self._analysis.snapshot.complete else "class unread"
        owners = {text_at(one.raw, "spec.controllerName") for one in classes} - self._refused
        if not owners & controllers:
            return "no class"
        if at and at.object.group_kind in (GATEWAY, *LISTENER_SETS):
            controller = controller_of(self._analysis.topology, at.object)
            if controller is None:
                return "class unread"
            return None if controller in controllers else "other class"
        return None

    @cached_property
    def _refused(self) -> frozenset[str]:
        """The controllers of which every GatewayClass in the input is reported not to be accepted."""
        accepted: dict[str, bool] = {}
        for one in self._analysis.index.of_kind(GATEWAY_CLASS):
            said = {text_at(c, "type"): text_at(c, "status") for c in mappings_at(one.raw, "status.conditions")}
            controller = text_at(one.raw, "spec.controllerName")
            accepted[controller] = accepted.get(controller, False) or said.get("Accepted") != "False"
        return frozenset(controller for controller, fine in accepted.items() if not fine)

    def _is_silent(self, kind: GroupKind, controllers: frozenset[str]) -> bool:
        """Whether no object of a kind has a report of the controllers, or at all where a report names nobody."""
        key = (kind, controllers)
        if key not in self._silent:
            resources = self._analysis.index.of_kind(kind)
            self._silent[key] = not any(
                any(_is_by(place.controller, controllers) and place.conditions for place in reported_places(one.raw))
                for one in resources
                if has_report(one.raw)
            )
        return self._silent[key]


def _is_by(name: str, controllers: frozenset[str]) -> bool:
    return not name or not controllers or name in controllers
