"""Profile files: a malformed one is refused with file, line, field and what is allowed; a sound one is read in full."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest
import yaml
from jsonschema import Draft202012Validator

from kubectl_policy.errors import ProfileError
from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile, TargetLevel, load_profiles
from kubectl_policy.profiles.load import built_in_profiles, schema

if TYPE_CHECKING:
    from pathlib import Path

HEAD: Final = "group: example.com\nkinds:\n  RetryPolicy:\n"
EVIDENCE: Final = "    evidence: [https://example.com/docs]\n"

KIND: Final = "kinds.RetryPolicy"
DIRECT: Final = HEAD + EVIDENCE + "    class: direct\n"
WRONG: Final = [
    pytest.param(
        HEAD + EVIDENCE + "    class: both\n",
        5,
        f"{KIND}.class: 'both' is not allowed; use one of direct, inherited",
        id="class",
    ),
    pytest.param(
        DIRECT + "    merge: yes\n",
        3,
        "('merge' was unexpected); known fields: class, crossNamespace, declaredTargets, effectiveTargets, evidence",
        id="unknown field",
    ),
    pytest.param(HEAD + "    class: direct\n", 3, f"{KIND}: 'evidence' is a required property", id="no evidence"),
    pytest.param(HEAD + "    class: direct\n    evidence: []\n", 5, f"{KIND}.evidence: [] ", id="empty evidence"),
    pytest.param(
        DIRECT + "    strategy: Patch\n", 6, "'Patch' is not allowed; use one of None, Atomic de", id="strategy"
    ),
    pytest.param(DIRECT + "    fold: sideways\n", 6, "use one of bottom-up, top-down", id="fold"),
    pytest.param(
        DIRECT + "    declaredTargets:\n      - {group: '', kind: Service}\n      - {group: ''}\n",
        8,
        f"{KIND}.declaredTargets.1: 'kind' is a required property",
        id="list item",
    ),
    pytest.param(DIRECT + "    strategyField: a..b\n", 6, f"{KIND}.strategyField: 'a..b' does not match", id="path"),
    pytest.param(
        "group: a\nkinds:\n  R:\n    <<: {class: odd, evidence: [https://x.y]}\n    fold: top-down\n",
        3,
        "kinds.R.class: 'odd' is not allowed",
        id="by way of a merge key",
    ),
    pytest.param("group: example.com\nkinds: {}\n", 2, "kinds: {} ", id="no kinds"),
    pytest.param("- group: a\n", 1, "the file: [{'group': 'a'}] is not of type 'object'", id="a list"),
    pytest.param("", 1, "the file: None is not of type 'object'", id="empty"),
    pytest.param(
        "kinds: {P: {class: direct, evidence: [https://x.y]}}", 1, "'group' is a required property", id="no group"
    ),
]


def written(folder: Path, text: str) -> Path:
    """A profile file with that text."""
    path = folder / "profiles.yaml"
    path.write_text(text, "utf-8")
    return path


class TestRefused:
    """Malformed files: what is wrong, where, and what is allowed instead."""

    @pytest.mark.parametrize(("text", "line", "words"), WRONG)
    def test_wrong_content(self, tmp_path: Path, text: str, line: int, words: str) -> None:
        """File, line and field of what is wrong, with the allowed values; the hint names the documentation."""
        path = written(tmp_path, text)
        with pytest.raises(ProfileError) as refused:
            load_profiles(path)
        assert refused.value.message.startswith(f"{path}:{line}: ")
        assert words in refused.value.message
        assert refused.value.hint
        assert refused.value.exit_code == 2

    def test_not_yaml(self, tmp_path: Path) -> None:
        """A syntax error has its line."""
        path = written(tmp_path, "group: example.com\nkinds: [\n")
        with pytest.raises(ProfileError, match=f"{path}:3: not valid YAML"):
            load_profiles(path)

    def test_nested_too_deeply(self, tmp_path: Path) -> None:
        """A file that exhausts the parser is refused like any other."""
        path = written(tmp_path, "[" * 5_000 + "]" * 5_000)
        with pytest.raises(ProfileError, match="not valid YAML: nested too deeply"):
            load_profiles(path)

    def test_not_there(self, tmp_path: Path) -> None:
        """A missing file."""
        with pytest.raises(ProfileError, match="cannot read profiles: No such file"):
            load_profiles(tmp_path / "absent.yaml")

    def test_not_text(self, tmp_path: Path) -> None:
        """A file that is not UTF-8."""
        path = tmp_path / "profiles.yaml"
        path.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ProfileError, match="not UTF-8 text"):
            load_profiles(path)


def test_the_least_that_a_profile_says(tmp_path: Path) -> None:
    """Class and evidence; that the merge strategy is assumed is said with the answer."""
    path = written(tmp_path, HEAD + "    class: inherited\n" + EVIDENCE)
    assert load_profiles(path) == (
        PolicyKindProfile(
            GroupKind("example.com", "RetryPolicy"),
            "inherited",
            "profile",
            evidence=("https://example.com/docs",),
            origin=Origin(str(path), 1),
            assumed=("merge strategy",),
        ),
    )


def test_everything_that_a_profile_can_say(tmp_path: Path) -> None:
    """Every field of the format reaches the profile."""
    fields = {
        "class": "direct",
        "targetFields": ["spec.attachTo"],
        "declaredTargets": [{"group": "", "kind": "Service"}],
        "effectiveTargets": [{"group": "", "kind": "Service", "section": True}, {"group": "", "kind": "Service"}],
        "virtualTargets": [{"group": "v.example.com", "kind": "Ghost"}],
        "crossNamespace": True,
        "grantRequired": False,
        "strategy": "Patch overrides",
        "strategyField": "spec.mode",
        "stanzas": "singular",
        "fold": "top-down",
        "sameLevel": "first-wins",
        "objectFields": {"retryOn": "spec.retryOn"},
        "wholeFields": ["labels"],
        "evidence": ["https://example.com/docs"],
    }
    assert fields.keys() == schema()["$defs"]["kind"]["properties"].keys()
    path = written(tmp_path, json.dumps({"group": "example.com", "kinds": {"RetryPolicy": fields}}))
    service = GroupKind("", "Service")
    (profile,) = load_profiles(path)
    assert profile == PolicyKindProfile(
        GroupKind("example.com", "RetryPolicy"),
        "direct",
        "profile",
        target_fields=("spec.attachTo",),
        declared_targets=frozenset({service}),
        effective_targets=(TargetLevel(service, section=True), TargetLevel(service)),
        virtual_targets=frozenset({GroupKind("v.example.com", "Ghost")}),
        cross_namespace=True,
        grant_required=False,
        strategy=MergeStrategy.PATCH_OVERRIDES,
        strategy_field="spec.mode",
        stanzas="singular",
        fold="top-down",
        same_level="first-wins",
        object_fields={"retryOn": "spec.retryOn"},
        whole_fields=frozenset({"labels"}),
        evidence=("https://example.com/docs",),
        origin=Origin(str(path), 1),
    )


@pytest.mark.parametrize("group", ["", "nobody.example.com", "../../etc", "Gateway", "a" * 300, "-x", "x\n"])
def test_groups_without_built_in_profiles(group: str) -> None:
    """An unknown group has none; one that is no API group at all is never looked up as a file name."""
    assert built_in_profiles(group) == {}


def test_a_group_is_read_once() -> None:
    """The same value, not an equal one."""
    group = "gateway.networking.k8s.io"
    assert built_in_profiles(group) is built_in_profiles(group)


def test_the_schema_is_a_schema() -> None:
    """The schema of profile files is itself valid."""
    Draft202012Validator.check_schema(schema())


def test_yaml_words_are_not_taken_for_something_else(tmp_path: Path) -> None:
    """`strategy: None` is the strategy of that name: only `null` and `~` are YAML's null."""
    path = written(tmp_path, HEAD + "    class: direct\n    strategy: None\n" + EVIDENCE)
    assert yaml.safe_load("None") == "None"
    assert load_profiles(path)[0].strategy is MergeStrategy.NONE
