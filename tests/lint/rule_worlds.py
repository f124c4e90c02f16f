"""Worlds of rules: of objects that are built, of manifests, and of each rule a wrong one and one that is put right.

The last two are in `worlds/NAME.yaml`, the wrong one first, then the other one below a line `# right`. What rules
about changes compare both with stands before them, above a line `# after`.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from kubectl_policy import InputOptions, PolicyKindProfile, analyze, load_manifests
from kubectl_policy.comparison import StateComparison, compare
from kubectl_policy.lint.checking import findings_in, suppress, unused_in
from kubectl_policy.lint.consequences import join_consequences
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.settings import LintSettings, Requirement
from kubectl_policy.model import Diagnostic, Gap, GroupKind, Json, Origin, Resource, Snapshot
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.model.snapshot import Permission
from kubectl_policy.profiles.reading import read
from tests import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.rule import Rule


COLOR: Final = GroupKind("example.com", "ColorPolicy")
OURS: Final = "example.com/gateway"
CLASS: Final = build.gateway_class()
GATEWAY: Final = build.gateway()
ROUTE: Final = build.route("r")
# Something that attaches, and to which requests come.
SERVED: Final = (CLASS, GATEWAY, ROUTE, build.service())
TO_ROUTE: Final = build.target("r", "HTTPRoute")


def known(kind: str = "ColorPolicy", *, direct: bool = False, **choices: Any) -> PolicyKindProfile:  # noqa: ANN401 (of any type)
    """The profile of a kind of `example.com`; it is inherited, and targets anything, unless told otherwise."""
    return PolicyKindProfile(GroupKind("example.com", kind), "direct" if direct else "inherited", "profile", **choices)


def kinds(*names: str) -> frozenset[GroupKind]:
    """Kinds of Gateway API, or of the core for a Service."""
    return frozenset(GroupKind("" if name == "Service" else GATEWAY_API, name) for name in names)


def checked(
    rule: Rule,
    *resources: Resource,
    profiles: Sequence[PolicyKindProfile] = (),
    complete: bool = True,
    gaps: Sequence[Gap] = (),
) -> list[Finding]:
    """What a rule finds in a world."""
    snapshot = build.snapshot(*resources, complete=complete, gaps=gaps)
    findings = rule.check(LintWorld(analyze(snapshot, profiles=profiles), LintSettings(), lambda _: True))
    return list({finding.key: finding for finding in findings}.values())


def said(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Where findings are, and what they say; of unknown ones, with a question mark."""
    return [(finding.field, finding.message if finding.certain else f"? {finding.message}") for finding in findings]


def verdicts(findings: Iterable[Finding]) -> list[bool]:
    """Whether each of some findings is certain."""
    return [finding.certain for finding in findings]


_WORLDS: Final = Path(__file__).with_name("worlds")
_MARK: Final = "# right\n"
_AFTER: Final = "# after\n"


def requiring(**requirement: Json) -> LintSettings:
    """The settings of a config file with one requirement."""
    return LintSettings(requirements=(read({"name": "ours", **requirement}, Requirement),))


def wrong_world(rule: Rule) -> str:
    """The manifests in which a rule finds something."""
    return _world(rule).partition(_MARK)[0].rpartition(_AFTER)[2]


def right_world(rule: Rule) -> str:
    """The same, put right."""
    return _world(rule).partition(_MARK)[2]


def world_before(rule: Rule) -> str:
    """What both are changes of; empty for what is not about changes."""
    return _world(rule).rpartition(_AFTER)[0]


def _world(rule: Rule) -> str:
    return (_WORLDS / f"{rule.name}.yaml").read_text()


def document(  # noqa: PLR0913 (as a builder is read by its keywords)
    kind: str,
    name: str,
    spec: str,
    *,
    version: str = "gateway.networking.k8s.io/v1",
    namespace: str = "shop",
    meta: str = "",
    rest: str = "",
) -> str:
    """A manifest; `meta` is more of its metadata, in flow style, and `rest` what stands behind its spec."""
    home = f", namespace: {namespace}" if namespace else ""
    return f"---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}{home}{meta}}}\nspec: {spec}\n{rest}"


def snapshot_of(manifests: str, *, complete: bool = False) -> Snapshot:
    """The snapshot of manifests, which are all that there is if `complete`."""
    return load_manifests("-", options=InputOptions(complete=complete), stdin=BytesIO(manifests.encode()))


# What the config file asks for, for rules that check nothing else.
SETTINGS: Final[Mapping[str, LintSettings]] = {
    "route-without-required-policy": requiring(policies=["SecurityPolicy"], fields=["jwt"]),
    "setting-out-of-bounds": requiring(
        policies=["BackendTrafficPolicy"], check='duration(policy.timeout.http.requestTimeout) <= duration("30s")'
    ),
    "suppression-without-reason": LintSettings(require_reason=True),
    "wide-blast-radius": LintSettings(widest=2),
    "cross-team-influence": LintSettings(owner="team"),
    "owner-label-missing": LintSettings(owner="team"),
}


# What reading notes where a cluster is asked, or something is rendered, which no manifest says.
_ORIGIN: Final = Origin("production")
NOTED: Final[Mapping[str, Gap | Diagnostic]] = {
    "kind-not-loaded": Gap("Service", "", "not valid YAML", Origin("services.yaml", 1)),
    "not-answered": Gap("Service", "", "the API server did not answer (HTTP 504)", _ORIGIN, group=""),
    "forbidden": Gap(
        "SecurityPolicy",
        "shop",
        "forbidden (HTTP 403)",
        _ORIGIN,
        remedy="ask for this permission",
        group="gateway.envoyproxy.io",
        needs=Permission("list", "securitypolicies.gateway.envoyproxy.io", "shop"),
    ),
    "not-rendered": Diagnostic(
        "not-rendered",
        "warning",
        "HelmRelease shop/checkout could not be rendered: helm: image.tag is required",
        origin=Origin("shop.yaml", 2),
    ),
    "input-in-doubt": Diagnostic(
        "too-many-worlds",
        "warning",
        "the input is for 4,000 clusters and overlays, which are not told apart",
        origin=Origin("clusters"),
    ),
}


def lint(
    analysis: Analysis,
    settings: LintSettings,
    is_linted: Callable[[Resource], bool] = lambda _: True,
    comparison: StateComparison | None = None,
) -> tuple[Finding, ...]:
    """What the rules that count find of the objects that are linted; by file, line, and rule.

    With a `comparison` they also find what a change makes worse, of which this is the later state.
    """
    return findings_in(LintWorld(analysis, settings, is_linted, comparison))


def _noted(rule: Rule, snapshot: Snapshot) -> Snapshot:
    noted = NOTED.get(rule.name)
    if isinstance(noted, Gap):
        return replace(snapshot, gaps=(*snapshot.gaps, noted))
    return replace(snapshot, diagnostics=(*snapshot.diagnostics, noted)) if noted else snapshot


def found_by(rule: Rule, manifests: str, *, complete: bool = True) -> list[Finding]:
    """What a rule finds in manifests."""
    settings, snapshot = SETTINGS.get(rule.name, LintSettings()), snapshot_of(manifests, complete=complete)
    snapshot = _noted(rule, snapshot) if manifests == wrong_world(rule) else snapshot
    before = world_before(rule)
    comparison = compare(snapshot_of(before, complete=complete), snapshot) if before else None
    analysis = comparison.after if comparison else analyze(snapshot)
    world = LintWorld(analysis, settings, lambda _: True, comparison)
    findings = findings_in(world)
    unused = unused_in([suppress(world, findings)], settings)
    joined: tuple[Finding, ...] = ()
    if comparison:
        known = {finding.key for finding in findings_in(LintWorld(comparison.before, settings, lambda _: True))}
        new = (finding for finding in findings if finding.key not in known)
        joined = join_consequences(new, [world], settings, lambda origin, _: origin)
    joined = tuple(finding for finding in joined if finding not in findings)
    return [finding for finding in (*findings, *unused, *joined) if finding.rule == rule.id]
