"""Compare this project's answers with recorded cases of gwctl.

`python -m tests.cases.gwctl FOLDER` reads FOLDER/<case>/expected.yaml, manifests.yaml and, where there is one,
change.yaml. Every key of a fact but its question counts as one fact. What the case itself corrects is replaced by the
correction; the record of what gwctl's own code does is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from kubectl_policy import Analysis, Implementation, analyze
from kubectl_policy.comparison import what_if
from kubectl_policy.model import Json
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from tests.cases import gwctl_effects as effects
from tests.cases import gwctl_objects as objects
from tests.cases.gwctl_objects import names
from tests.cases.gwctl_question import Answer, Question
from tests.cases.report import NOT_ANSWERED, NodeInForce, main
from tests.cases.worlds import read, world

MARKER: Final = "expected.yaml"
# A question, a remark, and what only an older version of the tool said.
_NO_FACTS: Final = ("ask", "why", "effective_historical_only")


def judge(folder: Path) -> Iterator[NodeInForce]:
    """Judge every fact of one case."""
    expected = read(folder / MARKER)
    case = text_at(expected, "case", folder.name)
    manifests, change = folder / "manifests.yaml", folder / "change.yaml"
    applied = world([change]).resources if change.exists() else ()
    question = partial(Question, what_if(_analysis([manifests]), applied=applied))
    corrections = dict(mapping_at(expected, "correct_answer"))
    for fact in mappings_at(expected, "facts"):
        corrected = {key: corrections.pop(key, value) for key, value in fact.items()}
        yield from _outcomes(case, question(text_at(fact, "ask")), corrected)
    yield from _outcomes(case, question("errors"), corrections)


def _analysis(paths: Sequence[Path]) -> Analysis:
    """Analyse a world in which every implementation is that of its GatewayClass: gwctl tells none apart."""
    snapshot = world(paths)
    classes = [resource for resource in snapshot.resources if resource.ref.kind == "GatewayClass"]
    names = {name for profile in analyze(snapshot).registry.policy_kinds for name in profile.settings}
    controller = text_at(classes[0].raw, "spec.controllerName") if classes else ""
    return analyze(snapshot, implementation=Implementation(settings=dict.fromkeys(names, controller)))


def _outcomes(case: str, question: Question, facts: Mapping[str, Json]) -> Iterator[NodeInForce]:
    for key, expected in facts.items():
        if key in _NO_FACTS:
            continue
        type_ = ON_PATH if ">" in key else ENFORCEMENT if question.ask == ENFORCEMENT else key
        lists: Mapping[str, Answer] = LISTS if question.is_listing else {}
        answer = lists.get(type_) or ANSWERS.get(type_)
        asked = f"{question.ask}: {key}"
        if answer is None:
            yield NodeInForce(case, type_, asked, expected, NOT_ANSWERED)
        elif question.subject is None and type_ not in {*OF_THE_WORLD, *lists}:
            yield NodeInForce(case, type_, asked, expected, "no such object")
        else:
            wanted, got = answer(question, key, expected)
            yield NodeInForce(case, type_, asked, wanted, got)


ENFORCEMENT: Final = "enforcement"
# The facts that are about no object in particular; any other one needs the object that its question is about.
OF_THE_WORLD: Final = frozenset(
    {
        "accepted",
        "created",
        "dangling",
        "enforced",
        ENFORCEMENT,
        "errors",
        "fixed_issues",
        "new_issues",
        "not_attached",
        "unchanged_issues",
        "updated",
        "warn",
    }
)
ON_PATH: Final = "effective on path"


# To questions for a list; every other question is for what is known of one object, or of the world.
LISTS: Final[Mapping[str, Answer]] = {"expect": objects.listed, "routes": objects.route_count}
ANSWERS: Final[Mapping[str, Answer]] = {
    "accepted": effects.reported,
    "attached": names(objects.targets),
    "attached_gateways": names(objects.gateways_of_class),
    "attached_routes": names(objects.attached_routes),
    "backends": names(objects.backends),
    "created": effects.changed_objects(lambda difference: difference.created),
    "dangling": effects.dangling,
    "delete_changes": effects.delete_changes,
    "delete_no_change": effects.delete_unchanged,
    "directly_attached": objects.directly_attached,
    "effective": effects.effective,
    ON_PATH: effects.effective_on_path,
    "enforced": effects.reported,
    ENFORCEMENT: effects.enforcement,
    "errors": effects.errors,
    "events": objects.events,
    "fixed_issues": effects.changed_problems(lambda problems: problems.fixed),
    "gateways": names(objects.parent_gateways),
    "inherited": objects.inherited_policies,
    "merged_default": effects.declared(overrides=False),
    "merged_override": effects.declared(overrides=True),
    "new_issues": effects.changed_problems(lambda problems: problems.introduced),
    "not_attached": objects.not_attached,
    "not_gateways": objects.not_gateways,
    "parents": names(objects.parents, kinds=True),
    "paths": effects.paths,
    "provenance": effects.provenance,
    "referenced_by": names(objects.referring_routes),
    "routes": names(objects.routes),
    "strategy": effects.strategy,
    "unchanged_issues": effects.changed_problems(lambda problems: problems.unchanged),
    "updated": effects.changed_objects(lambda difference: difference.updated),
    "warn": effects.errors,
}


if __name__ == "__main__":
    sys.exit(main(judge, MARKER, sys.argv[1:]))
