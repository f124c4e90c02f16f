"""The answer about a policy kind as text and as a document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.model import Gap, GroupKind, Origin
from kubectl_policy.profiles.load import built_in_groups, built_in_profiles
from kubectl_policy.questions.explain import Explanation, explain
from kubectl_policy.render.explain.statements import explanation_headline
from kubectl_policy.render.output.encoding import as_yaml
from kubectl_policy.render.output.text import View
from tests import build
from tests.render.explain.kinds import FULL, answer, text
from tests.render.schema import VALIDATOR
from tests.render.shown import as_json, document_of

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

LABEL: Final = {"gateway.networking.k8s.io/policy": "inherited"}
HOSTILE: Final = "\x1b[31mred\u202e\n# x: [y]\r\u2028z"


class TestAnswer:
    """The whole of it."""

    def test_everything(self, snapshot: SnapshotAssertion) -> None:
        """A profile that says all there is to say."""
        assert text(answer(FULL)) == snapshot

    def test_a_shape(self, snapshot: SnapshotAssertion) -> None:
        """Next to nothing is known, and the answer says of each thing that it is a guess or a default."""
        policies = (build.policy("p", build.target("g")), build.policy("q", build.target("r", "HTTPRoute", "x")))
        found = explain(
            analyze(build.snapshot(*policies, gaps=[Gap("", "", "broken", Origin("bad.yaml", 7))])), "colorpolicy"
        )
        assert text(found) == snapshot

    def test_a_label(self, snapshot: SnapshotAssertion) -> None:
        """The definition says some of it."""
        schema = {"properties": {"spec": {"properties": {"targetRef": {}, "defaults": {"type": "object"}}}}}
        definition = build.crd("ColorPolicy", schema=schema, labels=LABEL)
        found = explain(analyze(build.snapshot(definition, build.policy("p", color="red"))), "colorpolicy")
        assert text(found) == snapshot

    def test_next_commands_are_for_terminals(self) -> None:
        """With the options of the present one."""
        view = View(terminal=True, options=("--offline", "a b"))
        found = explain(analyze(build.snapshot(build.policy("p", build.target("g")))), "colorpolicy")
        assert text(found, view).splitlines()[-2:] == [
            "  kubectl policy explain colorpolicy.example.com --draft-profile --offline 'a b'",
            "  kubectl policy get colorpolicy.example.com -A --offline 'a b'",
        ]
        assert "Next" not in text(answer(FULL), view)

    @pytest.mark.parametrize(
        "kind", [kind for group in sorted(built_in_groups()) for kind in built_in_profiles(group)], ids=str
    )
    def test_every_built_in_kind_can_be_explained(self, kind: GroupKind) -> None:
        """As text and as a document that follows the schema."""
        found = explain(analyze(build.snapshot()), str(kind))
        assert explanation_headline(found).startswith(f"{kind} is a")
        document = json.loads(as_json(document_of(found)))
        VALIDATOR.validate(document)
        assert yaml.safe_load(as_yaml(document, unicode=True)) == document


class TestDocument:
    """The answer for machines."""

    @pytest.mark.parametrize(
        "found",
        [
            answer(FULL),
            explain(
                analyze(build.snapshot(build.crd("ColorPolicy", labels=LABEL), gaps=[Gap("", "", "x")])), "colorpolicy"
            ),
        ],
        ids=["profile", "label"],
    )
    def test_it_follows_the_schema(self, found: Explanation) -> None:
        """And the schema refuses what it does not know."""
        document = json.loads(as_json(document_of(found)))
        VALIDATOR.validate(document)
        assert not VALIDATOR.is_valid({**document, "more": 1})
        assert document["complete"] is not bool(document["unseen"])

    def test_statements_name_the_fields_of_a_file(self) -> None:
        """So that a reader finds them in a profile and in its documentation."""
        document: Any = document_of(answer(FULL))
        named = {field for statement in document["statements"] for field in statement["fields"]}
        assert {"class", "attachment", "declaredTargets", "strategyValues"} <= named

    def test_names_can_do_no_harm(self) -> None:
        """Whatever the input calls a kind, a group, a field or a file."""
        kind = GroupKind(HOSTILE, HOSTILE)
        profile = replace(
            FULL, group_kind=kind, origin=Origin(HOSTILE, 1), declared_targets=frozenset({kind}), notes=HOSTILE
        )
        printed = text(answer(profile), View(terminal=True)) + as_yaml(document_of(answer(profile)), unicode=True)
        assert all(line.isprintable() for line in printed.split("\n"))
