"""Settings of `lint`: selected rules, severities, the threshold for failing, and requirements."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta, Struct, field

from kubectl_policy.lint.finding import SEVERITIES
from kubectl_policy.model import Origin, Resource, Severity
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kind_roles import LISTENER_HOLDERS
from kubectl_policy.profiles.reading import NOTHING, Name

if TYPE_CHECKING:
    from datetime import date, datetime

    from kubectl_policy.topology import Path


Threshold: TypeAlias = Literal["error", "warning", "info", "never"]
# The levels that settings can give to a rule.
Level: TypeAlias = Literal["error", "warning", "info", "off"]


class RouteSelection(Struct, frozen=True, kw_only=True, rename="camel"):
    """A selection of routes and of the paths to them; all given criteria must hold."""

    kind: Name = ""
    """The kind of the routes. Without it: routes of every kind."""

    namespace: Name = ""
    """The namespace of the routes, or a pattern: `shop-*`. Without it: any."""

    labels: Mapping[str, str] = NOTHING
    """The labels of the routes, with their values."""

    gateway: Name = ""
    """The Gateway or ListenerSet through which requests come: `public` or `infra/public`. Without it: any."""

    listener: Name = ""
    """The name of the listener through which requests come. Without it: any."""

    def has(self, route: Resource) -> bool:
        """Whether a route is among them."""
        labels = mapping_at(route.raw, "metadata.labels")
        return (
            self.kind in {"", route.ref.kind}
            and fnmatchcase(route.ref.namespace, self.namespace or "*")
            and all(labels.get(key) == wanted for key, wanted in self.labels.items())
        )

    def leads(self, path: Path) -> bool:
        """Whether requests on a path come through the Gateway, by the listener."""
        gateways = [node for node in path if node.object.group_kind in LISTENER_HOLDERS]
        names = {name for node in gateways for name in (node.object.name, node.object.qualified_name)}
        return self.gateway in {"", *names} and self.listener in {"", *(node.section for node in gateways)}


class Requirement(Struct, frozen=True, kw_only=True, rename="camel"):
    """A requirement on policies in force for some routes: their kinds, fields and bounds."""

    name: Name
    """The name of the requirement in findings."""

    policies: Annotated[tuple[Name, ...], Meta(min_length=1)]
    """The policy kinds of which one must be in force."""

    routes: RouteSelection = RouteSelection()
    """The routes to which the requirement applies. Without it: all routes."""

    fields: Annotated[tuple[Name, ...], Meta(min_length=1)] = ()
    """The fields that must all be in force: `jwt`, `timeout.http.requestTimeout`."""

    check: Name = ""
    """A CEL expression that must be true wherever settings are in force. `policy` stands for the settings; `route`,
    `gateway` and `listener` stand for the objects that requests pass. An expression that cannot be evaluated, because
    a field is not set, is not true."""

    required: bool = False
    """Whether such a policy must be in force everywhere. Without it: only if there is no `check`."""

    message: Name = ""
    """The message of findings. Without it: what is missing, or the check."""

    severity: Literal["error", "warning", "info"] = "error"
    """The severity of findings."""


class LintSettings(Struct, frozen=True, kw_only=True):
    """The settings of a run; rules are given by ID, name, or prefix of an ID (`GWP1`)."""

    selected: tuple[str, ...] = ()
    """The rules to check; all if empty."""
    ignored: tuple[str, ...] = ()
    severities: Mapping[str, Level] = field(default_factory=dict[str, "Level"])
    """The levels that replace the severities of rules."""
    min_severity: Severity = "info"
    """The lowest severity that is shown."""
    fail_on: Threshold = "error"
    require_reason: bool = False
    """Whether suppressions have to give a reason."""
    written: Mapping[str, Origin] = field(default_factory=dict[str, "Origin"])
    """The lines on which the config file names rules."""
    requirements: tuple[Requirement, ...] = ()
    owner: str = ""
    """The label or annotation that names owners."""
    widest: int = 0
    """The number of routes from which on a policy affects too many; 0 for no limit."""
    grace: int = 5
    """The minutes that controllers have to report."""
    now: datetime | None = None

    @property
    def today(self) -> date | None:
        """The present day, if it is known."""
        return self.now.date() if self.now else None

    def shows(self, severity: Severity) -> bool:
        """Whether findings of a severity are shown."""
        return SEVERITIES.index(severity) <= SEVERITIES.index(self.min_severity)

    def fails(self, severity: Severity) -> bool:
        """Whether findings of a severity make the run fail."""
        return self.fail_on != "never" and SEVERITIES.index(severity) <= SEVERITIES.index(self.fail_on)
