"""Objects that are there several times: one finding for each file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import analyze, load_manifests
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules.duplicates import duplicate_object
from kubectl_policy.lint.settings import LintSettings
from tests.lint.policy_manifests import gateway, route, service
from tests.sources.rendering.trees import write

if TYPE_CHECKING:
    from pathlib import Path

# With another port of its Gateway and its Service.
FIRST: Final = gateway() + service()
SECOND: Final = FIRST.replace("port: 80", "port: 81")
ALSO: Final = "is also in {}/a.yaml:{}, with {}"
MORE: Final = "2 more objects of this file are in other files as well"
OTHER: Final = "other content; what is here counts: remove one of the two"


@pytest.mark.parametrize(
    ("second", "severity", "line", "message", "related"),
    [
        (service().replace("port: 80", "port: 81") + route(), "warning", 15, OTHER, []),
        (service() + route(), "info", 15, "the same content", []),
        (
            gateway() + service(),
            "info",
            2,
            f"the same content; {MORE}",
            ["public", "cart"],
        ),
        (
            gateway() + service().replace("port: 80", "port: 81"),
            "warning",
            15,
            f"{OTHER}; {MORE}",
            ["ours", "public"],
        ),
        # Two versions of several objects are seldom meant for one cluster.
        (
            SECOND,
            "info",
            7,
            f"{OTHER}; {MORE}; if the files are alternatives, name one of them",
            ["cart", "ours"],
        ),
        (
            gateway().partition("---\n")[2].partition("---\n")[0] + service(),
            "info",
            2,
            "the same content; another object of this file is in other files as well",
            ["cart"],
        ),
    ],
)
def test_a_file_with_objects_of_another_one(  # noqa: PLR0913, PLR0917 (a table)
    tmp_path: Path, second: str, severity: str, line: int, message: str, related: list[str]
) -> None:
    write(tmp_path, {"a.yaml": FIRST, "b.yaml": second})
    world = LintWorld(analyze(load_manifests([tmp_path])), LintSettings(), lambda _: True)
    (finding,) = duplicate_object.check(world)
    assert finding.message == f"{ALSO.format(tmp_path, line, message)}"
    assert (finding.severity, [one.object.name for one in finding.related]) == (severity, related)
