"""Every attachment that fails is found, by one rule and no other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final, get_args

import pytest

from kubectl_policy import InputOptions, analyze, load_manifests
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules import rules_of
from kubectl_policy.lint.rules.policies import failures as failing
from kubectl_policy.lint.rules.policies import target_references, targets, unreached_targets, validity
from kubectl_policy.lint.rules.policies.failures import Concern, Failure
from kubectl_policy.lint.settings import LintSettings
from tests import build
from tests.lint.rule_worlds import CLASS, GATEWAY, kinds, known

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
# What rules of other groups find: what policies refer to beside their targets.
ELSEWHERE: Final[set[Concern]] = {"need not met"}
MODULES: Final = (targets, target_references, unreached_targets, validity)


def test_each_concern_is_that_of_one_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[Concern] = Counter()

    def listening(_: LintWorld, concern: Concern) -> list[Failure]:
        asked[concern] += 1
        return []

    world = LintWorld(analyze(build.snapshot()), LintSettings(), lambda _: True)
    for module in MODULES:
        monkeypatch.setattr(module, "failures", listening)
        for rule in rules_of(module):
            list(rule.check(world))
    every: tuple[Concern, ...] = get_args(Concern)
    # Policies, and what is none, have a rule each.
    assert asked == Counter({*every} - ELSEWHERE) + Counter({"not named": 1})


@pytest.mark.parametrize(
    "path", [path for path in sorted(FIXTURES.iterdir()) if path.name != "profiles"], ids=lambda path: path.name
)
@pytest.mark.parametrize("complete", [False, True])
def test_every_failure_is_told(path: Path, *, complete: bool) -> None:
    snapshot = load_manifests(str(path), options=InputOptions(complete=complete))
    world = LintWorld(analyze(snapshot), LintSettings(), lambda _: True)
    every = [finding for module in MODULES for rule in rules_of(module) for finding in rule.check(world)]
    for concern in {*get_args(Concern)} - ELSEWHERE:
        for failure in failing.failures(world, concern):
            subjects = {failure.policy.ref, failure.attachment.declared.named_by}
            about = [finding for finding in every if finding.subject in subjects and finding.certain is failure.certain]
            assert about
            assert concern == "policy invalid" or any(each.field.startswith(failure.field) for each in about)


def test_what_is_not_computed_does_not_fail() -> None:
    profile = known(filter_routes=kinds("HTTPRoute"), backend_filters=True)
    route = build.route("r", rules=[build.rule(build.backend(filters=[build.names("p")]))])
    snapshot = build.snapshot(CLASS, GATEWAY, route, build.policy("p", color="red"), complete=True)
    world = LintWorld(analyze(snapshot, profiles=[profile]), LintSettings(), lambda _: True)
    assert [attachment.state for _, attachment in world.failed_attachments] == ["not computed"]
    assert not any(failing.failures(world, concern) for concern in get_args(Concern))
