"""Profile files: a malformed one is refused with file, line, field and what is allowed; a folder is all its files."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy.errors import ProfileError
from kubectl_policy.model import Origin
from kubectl_policy.profiles import MergeStrategy, load_profiles
from kubectl_policy.profiles.load import MAX_SIZE, built_in_groups, built_in_profiles, name_in_files
from tests.profiles.everything import policy_by_policy, profile

if TYPE_CHECKING:
    from pathlib import Path

HEAD: Final = "group: example.com\nkinds:\n  RetryPolicy:\n"
EVIDENCE: Final = "    evidence: [https://example.com/docs]\n"

KIND: Final = "kinds.RetryPolicy"
DIRECT: Final = HEAD + EVIDENCE + "    class: direct\n"
CONDITION: Final = "    status: {conditions: {accepted: {type: Ready, status: True, reason: Ok}}}\n"
TARGETS: Final = "    declaredTargets:\n      - {group: '', kind: Service}\n"
WRONG: Final = [
    pytest.param(
        HEAD + EVIDENCE + "    class: both\n",
        5,
        f"{KIND}.class: 'both' is not allowed; use one of direct, inherited",
        id="class",
    ),
    pytest.param(
        DIRECT + "    fields: yes\n", 6, f"{KIND}.fields: there is no such field; known fields: a", id="unknown field"
    ),
    pytest.param(DIRECT + "    targetfield: []\n", 6, "did you mean targetFields?", id="a slip"),
    pytest.param(HEAD + "    class: direct\n", 3, f"{KIND}: the field evidence is missing", id="no evidence"),
    pytest.param(
        HEAD + "    class: direct\n    evidence: []\n", 5, f"{KIND}.evidence: must not be empty", id="empty evidence"
    ),
    pytest.param(
        HEAD + "    class: direct\n    evidence: [blog]\n",
        5,
        f"{KIND}.evidence[0]: must have at least 8 characters",
        id="short evidence",
    ),
    pytest.param(
        DIRECT + "    strategy: Patch\n", 6, "'Patch' is not allowed; use one of None, Atomic defaults", id="strategy"
    ),
    pytest.param(DIRECT + "    fold: sideways\n", 6, "use one of bottom-up, top-down", id="fold"),
    pytest.param(
        DIRECT + TARGETS + "      - {group: ''}\n",
        8,
        f"{KIND}.declaredTargets[1]: the field kind is missing",
        id="list item",
    ),
    pytest.param(
        DIRECT + TARGETS + "      - {group: gateway.networking.k8s.io/v1, kind: Gateway}\n",
        8,
        f"{KIND}.declaredTargets[1].group: 'gateway.networking.k8s.io/v1' has a version; write the group alone",
        id="group with version",
    ),
    pytest.param(
        DIRECT + "    declaredTargets: Gateway\n",
        6,
        f"{KIND}.declaredTargets: must be a list, not 'Gateway'",
        id="no list",
    ),
    pytest.param(
        DIRECT + "    declaredTargets: [Gateway]\n",
        6,
        f"{KIND}.declaredTargets[0]: must be a mapping, not 'Gateway'",
        id="no mapping",
    ),
    pytest.param(
        DIRECT + "    crossNamespace: maybe\n",
        6,
        f"{KIND}.crossNamespace: must be true or false, not 'maybe'",
        id="no truth value",
    ),
    pytest.param(
        DIRECT + "    strategyField: a..b\n",
        6,
        f"{KIND}.strategyField: 'a..b' does not fit. A field is written as a dotted path",
        id="path",
    ),
    pytest.param(
        DIRECT + "    wholeFields: ['rules[]']\n",
        6,
        f"{KIND}.wholeFields[0]: 'rules[]' does not fit. Fields are written as labels, limits.*",
        id="whole fields",
    ),
    pytest.param(
        DIRECT + "    securityFields: jwt\n",
        6,
        f"{KIND}.securityFields: must be a list, not 'jwt'",
        id="no list of security fields",
    ),
    pytest.param(
        DIRECT + "    securityFields:\n      - jwt\n      - rules[name]\n",
        8,
        f"{KIND}.securityFields[1]: 'rules[name]' does not fit. Fields are written as jwt, perPort.*.tls",
        id="security field",
    ),
    pytest.param(
        DIRECT + "    securityFields: ['*', jwt]\n",
        6,
        f"{KIND}.securityFields: * means every field, so it must be the only entry",
        id="every field and another",
    ),
    pytest.param(
        DIRECT + "    unnamedRules: rule\n",
        6,
        f"{KIND}.unnamedRules: 'rule' does not fit. The name of a rule without a name; {{n}} is the",
        id="unnamed rules",
    ),
    pytest.param(
        DIRECT + "    strategyField: spec.a\n    strategyValues: {Deep: deep}\n",
        7,
        f"{KIND}.strategyValues.Deep: 'deep' is not allowed; use one of None, Atomic defaults",
        id="strategy of a value",
    ),
    pytest.param(
        DIRECT + "    strategyValues: {Deep: None}\n",
        6,
        f"{KIND}.strategyValues: means nothing without strategyField",
        id="values of nothing",
    ),
    pytest.param(
        DIRECT + CONDITION,
        6,
        f'{KIND}.status.conditions.accepted.status: true is not allowed; use one of True, False, Unknown, in quotes: "',
        id="unquoted",
    ),
    pytest.param(
        DIRECT + "    status:\n      conditions:\n        done: {}\n",
        8,
        f"{KIND}.status.conditions.done: there is no such field; known fields: accepted, affected",
        id="unknown condition",
    ),
    pytest.param(
        DIRECT + "    needs:\n      - field: spec.x\n        kinds: [A]\n",
        7,
        f"{KIND}.needs[0]: the field group is missing",
        id="nested",
    ),
    pytest.param(
        DIRECT + "    variants:\n      - targets: [{group: '', kind: A}]\n        fold: top-down\n",
        8,
        f"{KIND}.variants[0].fold: there is no such field; known fields: chooser, fields, strategy, "
        "targets, unheeded, wholeFields",
        id="variant",
    ),
    pytest.param(DIRECT + "    class: inherited\n", 6, "class is given twice: it is on line 5", id="given twice"),
    pytest.param(
        "group: a\nkinds:\n  R:\n    <<: {class: odd, evidence: [https://x.y]}\n    fold: top-down\n",
        4,
        "kinds.R.class: 'odd' is not allowed",
        id="by way of a merge key",
    ),
    pytest.param("group: example.com\nkinds: {}\n", 2, "kinds: must not be empty", id="no kinds"),
    pytest.param("group: example.com\nkinds:\n", 2, "kinds: must be a mapping, not empty", id="nothing as kinds"),
    pytest.param("- group: a\n", 1, "the file: must be a mapping, not [{'group': 'a'}]", id="a list"),
    pytest.param("", 1, "the file: must be a mapping, not empty", id="empty"),
    pytest.param(
        "kinds: {P: {class: direct, evidence: [https://x.y]}}", 1, "the field group is missing", id="no group"
    ),
    pytest.param("group: v1\n" + DIRECT.partition("\n")[2], 1, "group: 'v1' has a version", id="a version as group"),
    pytest.param(DIRECT + "---\n" + DIRECT, 7, "a second document: one file holds one", id="two documents"),
    pytest.param("group: example.com\nkinds: [\n", 2, "not valid YAML: ", id="not YAML"),
    pytest.param("group: a\nkinds:\n\tP: {}\n", 3, "indents with spaces", id="tabs"),
]


def written(folder: Path, text: str, name: str = "profiles.yaml") -> Path:
    path = folder / name
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
        assert refused.value.hint == "docs/profiles.md describes every field"
        assert refused.value.exit_code == 2

    def test_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(ProfileError, match=r"absent\.yaml: cannot be read: No such file"):
            load_profiles(tmp_path / "absent.yaml")

    def test_not_to_be_listed(self, tmp_path: Path) -> None:
        with pytest.raises(ProfileError, match="cannot be read: File name too long"):
            load_profiles(tmp_path / ("x" * 300))

    def test_not_text(self, tmp_path: Path) -> None:
        """A file that is not UTF-8, with the line on which it stops being it."""
        path = tmp_path / "profiles.yaml"
        path.write_bytes(b"group: a\nkinds: \xff\xfe\x00")
        with pytest.raises(ProfileError, match=f"{path}:2: not UTF-8 text"):
            load_profiles(path)

    def test_too_large(self, tmp_path: Path) -> None:
        """What is given by mistake is not read to its end."""
        path = written(tmp_path, "#" * (MAX_SIZE + 1))
        with pytest.raises(ProfileError, match="larger than 4 MiB"):
            load_profiles(path)

    def test_a_folder_without_profiles(self, tmp_path: Path) -> None:
        """Is a mistake rather than none; files of other names, hidden ones and folders in it do not count."""
        written(tmp_path, "no profile", "README.md")
        written(tmp_path, "no profile", ".hidden.yaml")
        (tmp_path / "deeper").mkdir()
        written(tmp_path / "deeper", DIRECT)
        with pytest.raises(ProfileError, match=r"no \*\.yaml, \*\.yml or \*\.json in this folder"):
            load_profiles(tmp_path)

    def test_one_bad_file_of_a_folder(self, tmp_path: Path) -> None:
        written(tmp_path, DIRECT, "a.yaml")
        written(tmp_path, "[]", "b.yml")
        with pytest.raises(ProfileError, match=r"b\.yml:1: the file: must be a mapping"):
            load_profiles(tmp_path)


def test_a_file_says_everything(tmp_path: Path) -> None:
    """As JSON, which is YAML; each profile knows its line."""
    path = written(tmp_path, json.dumps(policy_by_policy(), indent=1), "all.json")
    (found,) = load_profiles(path)
    expected = replace(profile(Origin(str(path), 10)), joint_fields=(), scopes=(), route_choice=None, port_field=None)
    assert found.origin == expected.origin
    assert found == expected


def test_a_folder_is_its_files(tmp_path: Path) -> None:
    """In the order of their names, so that of two profiles for one kind the last one counts."""
    for name, strategy in (("b.yml", "None"), ("a.yaml", "Patch defaults"), ("c.json", "All apply")):
        written(tmp_path, f"{DIRECT}    strategy: {strategy}\n", name)
    assert [found.strategy for found in load_profiles(tmp_path)] == ["Patch defaults", "None", "All apply"]


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    """Some editors write one."""
    assert load_profiles(written(tmp_path, "\ufeff" + DIRECT))[0].policy_class == "direct"


@pytest.mark.parametrize("group", ["", "nobody.example.com", "../../etc", "Gateway", "a" * 300, "-x", "x\n"])
def test_groups_without_built_in_profiles(group: str) -> None:
    """An unknown group has none; one that is no API group at all is never looked up as a file name."""
    assert built_in_profiles(group) == {}


def test_a_group_is_read_once() -> None:
    """The same value, not an equal one; its profiles know the file and the line."""
    group = "gateway.networking.k8s.io"
    assert built_in_profiles(group) is built_in_profiles(group)
    assert group in built_in_groups()
    origins = [found.origin for found in built_in_profiles(group).values()]
    assert Origin("built-in profile gateway.networking.k8s.io", 3) in origins


def test_yaml_words_are_not_taken_for_something_else(tmp_path: Path) -> None:
    """`strategy: None` is the strategy of that name: only `null` and `~` are YAML's null."""
    path = written(tmp_path, HEAD + "    class: direct\n    strategy: None\n" + EVIDENCE)
    assert load_profiles(path)[0].strategy is MergeStrategy.NONE


def test_built_in_files_are_read_as_those_of_users(tmp_path: Path) -> None:
    for group in sorted(built_in_groups()):
        file = tmp_path / f"{group}.yaml"
        file.write_text((resources.files("kubectl_policy.profiles") / "data" / file.name).read_text("utf-8"), "utf-8")
        origin = Origin(f"built-in profile {group}")
        expected = {
            profile.group_kind: replace(
                profile, origin=replace(origin, line=profile.origin.line if profile.origin else 0)
            )
            for profile in load_profiles(file)
        }
        assert dict(built_in_profiles(group)) == expected


def test_what_files_call_an_attribute() -> None:
    """As it is declared, which is not always its name in camel case."""
    names = [name_in_files(each) for each in ("policy_class", "map_fields", "no_such")]
    assert names == ["class", "mapFields", "noSuch"]
