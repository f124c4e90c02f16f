"""Profile files: a malformed one is refused with file, line, field and what is allowed; a folder is all its files."""

import json
from importlib import resources
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy.errors import ProfileError
from kubectl_policy.model import Origin
from kubectl_policy.profiles import MergeStrategy, load_profiles
from kubectl_policy.profiles.load import MAX_SIZE, built_in_groups, built_in_profiles, name_in_files
from tests.profiles.everything import policy_by_policy, profile

HEAD: Final = "group: example.com\nkinds:\n  RetryPolicy:\n"
EVIDENCE: Final = "    evidence: [https://example.com/docs]\n"

KIND: Final = "kinds.RetryPolicy"
DIRECT: Final = HEAD + EVIDENCE + "    class: direct\n"
# What stands behind DIRECT, the line of the mistake, and the message.
WRONG_FIELDS: Final = (
    ("fields: yes", 6, f"{KIND}.fields: there is no such field; known fields: a"),
    ("targetfield: []", 6, "did you mean targetFields?"),
    ("strategy: Patch", 6, "'Patch' is not allowed; use one of None, Atomic defaults"),
    ("fold: sideways", 6, "use one of bottom-up, top-down"),
    ("declaredTargets:\n      - {group: ''}", 7, f"{KIND}.declaredTargets[0]: the field kind is missing"),
    (
        "declaredTargets:\n      - {group: '', kind: A}\n      - {group: example.com/v1, kind: A}",
        8,
        f"{KIND}.declaredTargets[1].group: 'example.com/v1' has a version; write the group alone",
    ),
    ("declaredTargets: Gateway", 6, f"{KIND}.declaredTargets: must be a list, not 'Gateway'"),
    ("declaredTargets: [Gateway]", 6, f"{KIND}.declaredTargets[0]: must be a mapping, not 'Gateway'"),
    ("crossNamespace: maybe", 6, f"{KIND}.crossNamespace: must be true or false, not 'maybe'"),
    ("strategyField: a..b", 6, f"{KIND}.strategyField: 'a..b' does not fit. A field is written as a dotted path"),
    ("wholeFields: ['rules[]']", 6, f"{KIND}.wholeFields[0]: 'rules[]' does not fit. Fields are written as labels, "),
    ("securityFields: jwt", 6, f"{KIND}.securityFields: must be a list, not 'jwt'"),
    ("securityFields:\n      - jwt\n      - r[name]", 8, f"{KIND}.securityFields[1]: 'r[name]' does not fit. Fields"),
    ("securityFields: ['*', jwt]", 6, f"{KIND}.securityFields: * means every field, so it must be the only entry"),
    ("unnamedRules: rule", 6, f"{KIND}.unnamedRules: 'rule' does not fit. The name of a rule without a name; {{n}} is"),
    (
        "strategyField: spec.a\n    strategyValues: {Deep: deep}",
        7,
        f"{KIND}.strategyValues.Deep: 'deep' is not allowed; use one of None, Atomic defaults",
    ),
    ("strategyValues: {Deep: None}", 6, f"{KIND}.strategyValues: has no effect without strategyField"),
    (
        "status: {conditions: {accepted: {type: Ready, status: True, reason: Ok}}}",
        6,
        f'{KIND}.status.conditions.accepted.status: true is not allowed; use one of True, False, Unknown, in quotes: "',
    ),
    (
        "status:\n      conditions:\n        done: {}",
        8,
        f"{KIND}.status.conditions.done: there is no such field; known fields: accepted, affected",
    ),
    ("needs:\n      - field: spec.x\n        kinds: [A]", 7, f"{KIND}.needs[0]: the field group is missing"),
    (
        "variants:\n      - targets: [{group: '', kind: A}]\n        fold: top-down",
        8,
        f"{KIND}.variants[0].fold: there is no such field; known fields: chooser, fields, strategy, targets, unheeded",
    ),
    ("class: inherited", 6, "class is given twice: it is on line 5"),
)
WRONG: Final = (
    *((f"{DIRECT}    {text}\n", line, message) for text, line, message in WRONG_FIELDS),
    (f"{HEAD}{EVIDENCE}    class: both\n", 5, f"{KIND}.class: 'both' is not allowed; use one of direct, inherited"),
    (f"{HEAD}    class: direct\n", 3, f"{KIND}: the field evidence is missing"),
    (f"{HEAD}    class: direct\n    evidence: []\n", 5, f"{KIND}.evidence: must not be empty"),
    (f"{HEAD}    class: direct\n    evidence: [a]\n", 5, f"{KIND}.evidence[0]: must have at least 8 characters"),
    (
        "group: a\nkinds:\n  R:\n    <<: {class: odd, evidence: [https://x.y]}\n    fold: top-down\n",
        4,
        "kinds.R.class: 'odd' is not allowed",
    ),
    ("group: example.com\nkinds: {}\n", 2, "kinds: must not be empty"),
    ("group: example.com\nkinds:\n", 2, "kinds: must be a mapping, not empty"),
    ("- group: a\n", 1, "the file: must be a mapping, not [{'group': 'a'}]"),
    ("", 1, "the file: must be a mapping, not empty"),
    ("kinds: {P: {class: direct, evidence: [https://x.y]}}", 1, "the field group is missing"),
    ("group: v1\n" + DIRECT.partition("\n")[2], 1, "group: 'v1' has a version"),
    (f"{DIRECT}---\n{DIRECT}", 7, "a second document: one file holds one"),
    ("group: example.com\nkinds: [\n", 2, "not valid YAML: "),
    ("group: a\nkinds:\n\tP: {}\n", 3, "indents with spaces"),
)


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

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("absent.yaml", None, r"absent\.yaml: cannot be read: No such file"),
            ("x" * 300, None, "cannot be read: File name too long"),
            ("bytes.yaml", b"group: a\nkinds: \xff\xfe\x00", r"bytes\.yaml:2: not UTF-8 text"),
            ("large.yaml", b"#" * (MAX_SIZE + 1), "larger than 4 MiB"),
        ],
        ids=["absent", "name", "bytes", "size"],
    )
    def test_unreadable(self, tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(ProfileError, match=message):
            load_profiles(tmp_path / name)

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
