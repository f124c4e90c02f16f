"""What findings are known by, and the file that keeps them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.errors import SourceError
from kubectl_policy.lint.baseline import baseline_of, baseline_text, fingerprinted, read_baseline
from kubectl_policy.lint.finding import Finding, Related
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import GroupKind, Json, ObjectRef, Origin
from tests.lint.rule_worlds import lint, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Sequence


ROUTE: Final = ObjectRef(GroupKind("gateway.networking.k8s.io", "HTTPRoute"), "shop", "menu")
SERVICE: Final = ObjectRef(GroupKind("", "Service"), "shop", "kitchen")
RAW: Final[Json] = {
    "spec": {
        "hostnames": ["a.example.com", "b.example.com"],
        "parentRefs": [{"name": "public"}, {"name": "inner", "sectionName": "http"}, {"name": "public"}, "odd", 7],
        "rules": [{"matches": [{}]}, {"name": "write", "backendRefs": [{"kind": "Service", "name": "kitchen"}]}],
    },
    "status": {"conditions": [{"type": "Accepted"}, {"type": "ResolvedRefs"}, {"type": 1}]},
}


def finding(field: str = "", message: str = "is wrong", **more: Any) -> Finding:  # noqa: ANN401 (of any type)
    """A finding about the route, if about nothing else."""
    return Finding(**{"subject": ROUTE, "message": message, "field": field, "rule": "GWP4001", **more})


def marks(*findings: Finding, raw: Json = RAW) -> list[str]:
    """What findings of one run are known by."""
    return [finding.fingerprint for finding in fingerprinted(findings, lambda ref: raw if ref == ROUTE else None)]


def changed(raw: Json, place: str, items: Sequence[Json]) -> Json:
    """The route with another list in its spec."""
    assert isinstance(raw, dict)
    return {**raw, "spec": {**raw["spec"], place: items}}


class TestFingerprints:
    def test_is_the_same_everywhere(self) -> None:
        assert marks(finding("spec.parentRefs[1]")) == [
            "a404e2f0f75052a0d7e5fd6d1349bc1174bd85d3b998102be4996228c3edbe32"
        ]

    @pytest.mark.parametrize(
        "other",
        [
            {"message": "is wrong, twice"},
            {"severity": "info"},
            {"certain": False},
            {"origin": Origin("other.yaml", 7)},
            {"worlds": ("prod",)},
        ],
    )
    def test_what_does_not_count(self, other: dict[str, Any]) -> None:
        assert marks(finding(**other)) == marks(finding())

    @pytest.mark.parametrize(
        "other",
        [
            {"rule": "GWP4002"},
            {"subject": SERVICE},
            {"subject": replace(ROUTE, namespace="inn")},
            {"subject": None},
            {"field": "spec"},
            {"reason": "NoMatchingParent"},
            {"related": (Related(object=SERVICE),)},
        ],
    )
    def test_what_counts(self, other: dict[str, Any]) -> None:
        """The rule, the object, the field, the reason, and the other object."""
        assert marks(finding(**other)) != marks(finding())

    def test_what_is_said_of_no_object(self) -> None:
        one, two = (finding(subject=None, origin=Origin(f"{name}.yaml", 1)) for name in "ab")
        assert len({*marks(one, two)}) == 2
        assert marks(replace(one, origin=Origin("a.yaml", 9))) == marks(one)

    @pytest.mark.parametrize(
        ("place", "before", "after"),
        [
            ("parentRefs", "spec.parentRefs[1]", "spec.parentRefs[0]"),
            ("hostnames", "spec.hostnames[1]", "spec.hostnames[0]"),
            ("rules", "spec.rules[1].backendRefs[0].name", "spec.rules[0].backendRefs[0].name"),
        ],
    )
    def test_of_an_item_that_moves(self, place: str, before: str, after: str) -> None:
        assert isinstance(RAW, dict)
        moved = changed(RAW, place, RAW["spec"][place][1:])
        assert marks(finding(before)) == marks(finding(after), raw=moved)
        assert marks(finding(before)) != marks(finding(before.replace("[1]", "[0]", 1)))

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("spec.rules[0].matches[0]", "spec.rules[0].matches[1]"),
            ("spec.parentRefs[8].name", "spec.parentRefs[9].name"),
            ("spec.parentRefs[4]", "spec.parentRefs[5]"),
            ("status.conditions[2]", "status.conditions[3]"),
            ("spec[0]", "spec[1]"),
        ],
    )
    def test_of_an_item_without_a_name(self, one: str, other: str) -> None:
        """Its position counts, as it does where nothing is known of the object."""
        assert marks(finding(one)) != marks(finding(other))
        assert marks(finding("spec.parentRefs[0]"), raw=None) != marks(finding("spec.parentRefs[2]"), raw=None)

    def test_of_what_is_no_path(self) -> None:
        assert len({*marks(finding("a]b"), finding("a]c"), finding("..")), *marks(finding("\ud800"))}) == 4

    def test_of_the_same_twice(self) -> None:
        first, second = finding("spec.parentRefs[0]", "a"), finding("spec.parentRefs[2]", "b")
        assert len({*marks(first, second)}) == 2
        assert marks(first, second) == marks(second, first)[::-1]
        assert marks(first) == marks(second) == marks(first, second)[:1]


def test_of_manifests_that_change() -> None:
    refs = ["{name: public}", "{name: inner}", "{name: public, sectionName: http}"]

    def check(manifests: str) -> dict[str, str]:
        analysis = analyze(snapshot_of(manifests, complete=True))
        given = fingerprinted(lint(analysis, LintSettings(selected=("GWP4001",))), analysis.index.defaulted)
        return {each.fingerprint: each.message for each in given}

    def route(name: str, refs: list[str]) -> str:
        return (
            f"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: shop}}\n"
            f"spec:\n  parentRefs:\n" + "".join(f"  - {ref}\n" for ref in refs)
        )

    before = check(route("menu", refs))
    assert len(before) == 3
    assert check(f"# new\n\n{route('menu', refs)}") == before
    assert (
        check(f"{route('a', refs)}---\n{route('menu', ['{name: other}', *reversed(refs)])}").items() >= before.items()
    )


FINDINGS: Final = st.builds(
    finding,
    st.sampled_from(["", "spec.parentRefs[0]", "spec.parentRefs[2]", "spec.hostnames[1]", "spec.rules[0]"]),
    st.sampled_from(["a", "b"]),
    subject=st.sampled_from([ROUTE, SERVICE, None]),
    rule=st.sampled_from(["GWP4001", "GWP4002"]),
    reason=st.sampled_from(["", "NoMatchingParent"]),
    related=st.sampled_from([(), (Related(object=SERVICE),), (Related(object=ROUTE), Related(object=SERVICE))]),
    origin=st.builds(Origin, st.sampled_from(["a.yaml", "b.yaml"]), st.integers(1, 3)),
)
LISTS: Final = st.lists(FINDINGS, max_size=12)


class TestLaws:
    @given(LISTS)
    def test_no_two_findings_are_known_by_the_same(self, findings: list[Finding]) -> None:
        assert len({*marks(*findings)}) == len(findings)

    @given(LISTS, st.integers(1, 1000))
    def test_lines_do_not_count(self, findings: list[Finding], lines: int) -> None:
        moved = [
            replace(finding, origin=Origin(finding.origin.source, finding.origin.line + lines))
            for finding in findings
            if finding.origin
        ]
        assert marks(*moved) == marks(*findings)

    @given(LISTS, st.randoms(use_true_random=False))
    def test_the_order_does_not_count(self, findings: list[Finding], random: Any) -> None:  # noqa: ANN401 (random.Random)
        assert sorted(marks(*random.sample(findings, len(findings)))) == sorted(marks(*findings))

    @given(LISTS, LISTS)
    def test_others_do_not_count(self, findings: list[Finding], others: list[Finding]) -> None:
        unrelated = [replace(each, rule="GWP1001") for each in others]
        assert marks(*findings, *unrelated)[: len(findings)] == marks(*findings)

    @given(LISTS)
    def test_a_baseline_has_all_findings(self, findings: list[Finding]) -> None:
        found = fingerprinted(findings)
        kept = read_baseline(baseline_text(found), "baseline.json")
        assert {finding.fingerprint for finding in kept} == {finding.fingerprint for finding in found}


class TestDocument:
    FOUND: Final = fingerprinted(
        [
            finding("spec.parentRefs[1]", "is wrong", origin=Origin("a.yaml", 7)),
            finding(subject=None, rule="GWP0004", message="is no YAML", origin=Origin("b.yaml", 3)),
            finding("spec.rules", "may be wrong", certain=False),
        ]
    )

    def test_what_is_in_it(self) -> None:
        """What is certain, sorted, and in words; no line, which would change."""
        assert baseline_of(self.FOUND) == {
            "apiVersion": "policy.kubectl/v1alpha1",
            "kind": "LintBaseline",
            "findings": [
                {
                    "rule": "GWP0004",
                    "field": "",
                    "message": "is no YAML",
                    "fingerprint": self.FOUND[1].fingerprint,
                    "file": "b.yaml",
                },
                {
                    "rule": "GWP4001",
                    "field": "spec.parentRefs[1]",
                    "message": "is wrong",
                    "fingerprint": self.FOUND[0].fingerprint,
                    "object": {
                        "group": "gateway.networking.k8s.io",
                        "kind": "HTTPRoute",
                        "namespace": "shop",
                        "name": "menu",
                    },
                },
            ],
        }

    def test_as_text(self) -> None:
        """Each finding has a line, and an empty one can be read as well."""
        text = baseline_text(self.FOUND)
        assert json.loads(text) == baseline_of(self.FOUND)
        assert [line for line in text.splitlines() if "fingerprint" in line] == text.splitlines()[4:6]
        assert text.endswith("]\n}\n")
        assert read_baseline(baseline_text([]), "x") == ()

    def test_reading_it(self) -> None:
        kept = read_baseline(baseline_text(self.FOUND), "baseline.json")
        assert [(each.rule, each.subject, each.field, each.message) for each in kept] == [
            ("GWP0004", None, "", "is no YAML"),
            ("GWP4001", ROUTE, "spec.parentRefs[1]", "is wrong"),
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "not JSON"),
            ("{", "not JSON"),
            ("[" * 100_000, "not JSON"),
            ("[]", "not a LintBaseline"),
            ("null", "not a LintBaseline"),
            ('{"kind": "LintReport", "findings": []}', "not a LintBaseline"),
            ('{"kind": "LintBaseline"}', "not a LintBaseline"),
            ('{"kind": "LintBaseline", "findings": {}}', "not a LintBaseline"),
            ('{"kind": "LintBaseline", "findings": []}', "not of the version policy.kubectl/v1alpha1"),
        ],
    )
    def test_what_is_none(self, text: str, message: str) -> None:
        """It is said, with how to make one."""
        with pytest.raises(SourceError) as refused:
            read_baseline(text, "baseline.json")
        assert refused.value.message == f"baseline.json: no baseline: {message}"
        assert refused.value.hint == "kubectl policy lint --write-baseline FILE writes one"

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            (None, "findings[1].fingerprint is not there, or no text"),
            ([], "findings[1].fingerprint is not there, or no text"),
            ({"fingerprint": 1, "rule": "x"}, "findings[1].fingerprint is not there, or no text"),
            ({"fingerprint": "x", "rule": {}}, "findings[1].rule is not there, or no text"),
        ],
    )
    def test_an_entry_that_is_none(self, entry: Json, message: str) -> None:
        document = baseline_of(self.FOUND[:1])
        assert isinstance(document["findings"], list)
        with pytest.raises(SourceError) as refused:
            read_baseline(json.dumps({**document, "findings": [*document["findings"], entry]}), "b")
        assert refused.value.message == f"b: no baseline: {message}"

    def test_an_entry_that_says_little(self) -> None:
        document = {**baseline_of([]), "findings": [{"fingerprint": "x", "rule": "GWP1001", "object": [1], "field": 7}]}
        (kept,) = read_baseline(json.dumps(document), "b")
        assert (kept.fingerprint, kept.subject, kept.origin, kept.field) == ("x", None, None, "")
