"""Backends of kinds of an implementation to which its routes cannot send requests (GWP5020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.attachment.values import backend_problems
from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.rule import lint_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.lint.lint_world import LintWorld


@lint_rule("GWP5020", "error", "profile")
def backend_unusable(world: LintWorld) -> Iterator[Finding]:
    """A backend of an implementation's own kind has an address that routes cannot use.

    The controller reports `ResolvedRefs=False` on routes to the backend, and their requests fail. Such an address is,
    for example, one of the loopback range, a hostname without a dot, or a Unix domain socket, which only policies and
    telemetry may use: an address that is in order but for routes is reported if a route names the backend.

    Source: the rules of the kind's profile, with their evidence; Envoy Gateway's reasons InvalidAddress and
    UnsupportedAddressType.
    """
    for kind in world.index.group_kinds:
        rules = world.registry.backend_rules(kind)
        for backend in world.of_kind(kind) if rules else ():
            problems = [(rule, *problem) for rule in rules for problem in backend_problems(backend.raw, rule)]
            routes = world.relations.routes_forwarding_to(backend.ref) if problems else ()
            for rule, path, problem in problems:
                if rule.form or routes:
                    yield Finding(
                        subject=backend.ref,
                        field=str(path),
                        message=f"{problem}, so that no route can send requests there",
                        reason=rule.reason,
                        related=world.related_to(routes, "its requests fail there"),
                    )
