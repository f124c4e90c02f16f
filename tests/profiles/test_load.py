"""Profile files: what is read and written, and what is refused with file, line, field and what is allowed."""

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final, cast

import pytest
from msgspec.structs import replace

from kubectl_policy.errors import ProfileError
from kubectl_policy.model import GroupKind, Json, Origin
from kubectl_policy.model.kind_roles import SERVICE
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile, TargetLevel, load_profiles
from kubectl_policy.profiles.controllers import STANDARD_STATUS, ConditionWords
from kubectl_policy.profiles.fields import TARGET_FIELDS
from kubectl_policy.profiles.load import (
    MAX_SIZE,
    ProfileFile,
    built_in_groups,
    built_in_profiles,
    name_in_files,
    profile_file,
    profiles_in,
)
from kubectl_policy.profiles.merging import IgnoredPart, Inheritance, ListedFields, RouteChoice
from kubectl_policy.profiles.needs import RequiredParameter
from kubectl_policy.profiles.reading import file_fields, problems, write
from tests.profiles.everything import FIELDS, GATEWAY, KIND, ROUTE, policy_by_policy, profile

HEAD: Final = "group: example.com\nkinds:\n  RetryPolicy:\n"
EVIDENCE: Final = "    evidence: [https://example.com/docs]\n"

FIELD: Final = "kinds.RetryPolicy"
DIRECT: Final = HEAD + EVIDENCE + "    class: direct\n"
# What stands behind DIRECT, the line of the mistake, and the message.
OF_VARIANTS: Final = "chooser, fields, otherFields, strategy, targets, unheeded"
WRONG_FIELDS: Final = (
    ("fields: yes", 6, f"{FIELD}.fields: there is no such field; known fields: a"),
    ("targetfield: []", 6, "did you mean targetFields?"),
    ("strategy: Patch", 6, "'Patch' is not allowed; use one of None, Atomic defaults"),
    ("fold: sideways", 6, "use one of bottom-up, top-down"),
    ("declaredTargets:\n      - {group: ''}", 7, f"{FIELD}.declaredTargets[0]: the field kind is missing"),
    (
        "declaredTargets:\n      - {group: '', kind: A}\n      - {group: example.com/v1, kind: A}",
        8,
        f"{FIELD}.declaredTargets[1].group: 'example.com/v1' has a version; write the group alone",
    ),
    ("declaredTargets: Gateway", 6, f"{FIELD}.declaredTargets: must be a list, not 'Gateway'"),
    ("declaredTargets: [Gateway]", 6, f"{FIELD}.declaredTargets[0]: must be a mapping, not 'Gateway'"),
    ("crossNamespace: maybe", 6, f"{FIELD}.crossNamespace: must be true or false, not 'maybe'"),
    ("strategyField: a..b", 6, f"{FIELD}.strategyField: 'a..b' does not fit. A field is written as a dotted path"),
    ("wholeFields: ['rules[]']", 6, f"{FIELD}.wholeFields[0]: 'rules[]' does not fit. Fields are written as labels, "),
    ("securityFields: jwt", 6, f"{FIELD}.securityFields: must be a list, not 'jwt'"),
    ("securityFields:\n      - jwt\n      - r[name]", 8, f"{FIELD}.securityFields[1]: 'r[name]' does not fit. Fields"),
    ("securityFields: ['*', jwt]", 6, f"{FIELD}.securityFields: * means every field, so it must be the only entry"),
    (
        "unnamedRules: rule",
        6,
        f"{FIELD}.unnamedRules: 'rule' does not fit. The name of a rule without a name; {{n}} is",
    ),
    (
        "strategyField: spec.a\n    strategyValues: {Deep: deep}",
        7,
        f"{FIELD}.strategyValues.Deep: 'deep' is not allowed; use one of None, Atomic defaults",
    ),
    ("strategyValues: {Deep: None}", 6, f"{FIELD}.strategyValues: has no effect without strategyField"),
    ("attachment: connections", 6, f"{FIELD}.attachment: connections needs connections"),
    (
        "attachment: connections\n    connections: {subjects: [{field: spec}]}",
        6,
        f"{FIELD}.attachment: connections is for kinds whose rules are evaluated, and those of RetryPolicy.example.com",
    ),
    (
        "status: {conditions: {accepted: {type: Ready, status: True, reason: Ok}}}",
        6,
        f"{FIELD}.status.conditions.accepted.status: true is not allowed; use one of True, False, Unknown, in quotes:",
    ),
    (
        "status:\n      conditions:\n        done: {}",
        8,
        f"{FIELD}.status.conditions.done: there is no such field; known fields: accepted, affected",
    ),
    ("needs:\n      - field: spec.x\n        kinds: [A]", 7, f"{FIELD}.needs[0]: the field group is missing"),
    (
        "variants:\n      - targets: [{group: '', kind: A}]\n        fold: top-down",
        8,
        f"{FIELD}.variants[0].fold: there is no such field; known fields: {OF_VARIANTS}",
    ),
)
WRONG: Final = (
    *((f"{DIRECT}    {text}\n", line, message) for text, line, message in WRONG_FIELDS),
    (f"{HEAD}{EVIDENCE}    class: both\n", 5, f"{FIELD}.class: 'both' is not allowed; use one of direct, inherited"),
    (f"{HEAD}    class: direct\n", 3, f"{FIELD}: the field evidence is missing"),
    (f"{HEAD}    class: direct\n    evidence: []\n", 5, f"{FIELD}.evidence: must not be empty"),
    (f"{HEAD}    class: direct\n    evidence: [a]\n", 5, f"{FIELD}.evidence[0]: must have at least 8 characters"),
    (
        "group: a\nkinds:\n  R:\n    <<: {class: odd, evidence: [https://x.y]}\n    fold: top-down\n",
        4,
        "kinds.R.class: 'odd' is not allowed",
    ),
    ("group: example.com\nkinds: {}\n", 2, "kinds: must not be empty"),
    ("group: example.com\nkinds:\n", 2, "kinds: must be a mapping, not empty"),
    ("- group: a\n", 1, 'the file: must be a mapping, not [{"group": "a"}]'),
    ("", 1, "the file: must be a mapping, not empty"),
    ("kinds: {P: {class: direct, evidence: [https://x.y]}}", 1, "the field group is missing"),
    ("group: v1\n" + DIRECT.partition("\n")[2], 1, "group: 'v1' has a version"),
    (f"{DIRECT}---\n{DIRECT}", 7, "a second document: one file holds one"),
    ("group: example.com\nkinds: [\n", 2, "not valid YAML: "),
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


ORIGIN = Origin("f.yaml", 3)
LEAST: Mapping[str, Any] = {"class": "inherited", "evidence": ["https://example.com/docs"]}
BUILT_IN = [found for group in sorted(built_in_groups()) for found in built_in_profiles(group).values()]


def decoded(kind: Mapping[str, Any], **shared: Any) -> PolicyKindProfile:  # noqa: ANN401 (what a file may hold)
    (found,) = profiles_in({"group": KIND.group, "kinds": {KIND.kind: kind}, **shared}, ORIGIN)
    return found


def choices(found: PolicyKindProfile) -> PolicyKindProfile:
    """A profile without where it came from, and without what the rest of its file says."""
    return replace(
        found, origin=None, delegation=None, gateways=None, backends={}, route_parents={}, routes={}, assumed=()
    )


def test_the_least_that_a_profile_says() -> None:
    """Class and evidence; that the merge strategy is assumed is said with the answer."""
    assert decoded(LEAST) == PolicyKindProfile(
        KIND, "inherited", "profile", evidence=("https://example.com/docs",), origin=ORIGIN, assumed=("merge strategy",)
    )


def test_everything_that_a_profile_can_say() -> None:
    """Every field of the format reaches the profile, also those that are nested or named otherwise in code."""
    assert FIELDS.keys() == file_fields(PolicyKindProfile).keys()
    found = profile(ORIGIN)
    attributes = {field.attribute: field.default for field in file_fields(PolicyKindProfile).values()}
    same = [name for name, default in attributes.items() if getattr(found, name) == default]
    assert same == ["attachment"]
    on_gateway = IgnoredPart(levels=(TargetLevel(GATEWAY),), fields=("labels",), values=frozenset({"false"}))
    assert (found.origin, found.settings["controller"].default, found.ignored[0]) == (ORIGIN, "gateway", on_gateway)
    assert found.effective_targets == (TargetLevel(ROUTE, section=True), TargetLevel(SERVICE))
    assert found.enabled_by == RequiredParameter(GroupKind("example.com", "Settings"), "retries.enable", "allowed")
    assert found.needs[2].namespace_of == GroupKind("example.com", "Operator")
    assert found.route_choice == RouteChoice(
        "example.com/inherit",
        {
            "Parent": Inheritance(MergeStrategy.PATCH_OVERRIDES),
            "Deep": Inheritance(MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES),
        },
        ListedFields("options", MergeStrategy.PATCH_DEFAULTS),
    )
    assert [variant.targets for variant in found.variants] == [{SERVICE}, {ROUTE}]
    assert found.variants[1].fields == frozenset({"retries", "retryOn"})
    assert found.status.target_annotation == "example.io/retrypolicy"
    assert found.status.conditions == {
        "accepted": (ConditionWords("Ready", "True", "Programmed"), ConditionWords("Seen", "True", "Yes")),
        "target missing": (ConditionWords("RetryPolicyReady", "False", "Nowhere"),),
    }


def test_a_kind_that_filters_alone_attach() -> None:
    """It has no target references, and yet it is known how it attaches; so how it merges is assumed."""
    routes = [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}]
    found = decoded({**LEAST, "attachment": "filters", "filterRoutes": routes})
    assert (found.target_fields, found.attaches_by_references, found.backend_filters) == ((), True, False)
    assert found.assumed == ("merge strategy",)
    assert (write(found)["attachment"], write(found)["filterRoutes"]) == ("filters", routes)
    assert not decoded({**LEAST, "attachment": "none"}).attaches_by_references


def test_a_kind_whose_attaching_is_not_computed() -> None:
    """It has no target references, and so nothing about merging has to be assumed."""
    found = decoded({**LEAST, "attachment": "none"})
    assert (found.target_fields, found.assumed) == ((), ())
    assert decoded({**LEAST, "attachment": "references"}).target_fields == TARGET_FIELDS
    partly = decoded({**LEAST, "attachment": "partly"})
    assert (partly.target_fields, partly.references_alone, write(partly)["attachment"]) == (
        TARGET_FIELDS,
        False,
        "partly",
    )


@pytest.mark.parametrize("chosen", [{"strategy": "None"}, {"strategyField": "spec.mode"}, {"stanzas": "plural"}])
def test_a_strategy_that_is_chosen_is_not_assumed(chosen: dict[str, str]) -> None:
    assert decoded({**LEAST, **chosen}).assumed == ()


def test_what_holds_for_all_kinds_of_a_file() -> None:
    status = {"placement": "targets"}
    found = decoded(LEAST, controllers=["a", "b"], status=status)
    assert (found.controllers, found.status.placement) == (frozenset({"a", "b"}), "targets")
    assert found.status.conditions == STANDARD_STATUS.conditions
    kind_profile = decoded(
        {**LEAST, "controllers": ["c"], "status": {"conditions": {}}}, controllers=["a"], status=status
    )
    assert (kind_profile.controllers, kind_profile.status.placement, kind_profile.status.conditions) == (
        frozenset({"c"}),
        "gateways",
        {},
    )


def test_a_variant_changes_what_it_names() -> None:
    """The rest is that of the kind; where it takes effect on other kinds, nothing changes."""
    found = profile(ORIGIN)
    at_service = found.at(GroupKind("", "Service"))
    assert (at_service.strategy, at_service.chooser, at_service.whole_fields) == (
        MergeStrategy.ALL_APPLY,
        "established",
        found.whole_fields,
    )
    assert found.at(ROUTE).whole_fields == frozenset()
    assert found.at(GroupKind("", "Pod")) is found


def test_what_is_not_said_is_not_written() -> None:
    assert write(PolicyKindProfile(KIND, "direct", "shape")) == {"class": "direct"}
    assert write(PolicyKindProfile(KIND, "direct", "label", attachment="none")) == {
        "class": "direct",
        "attachment": "none",
    }


def test_everything_is_written_as_a_file_writes_it() -> None:
    """In the same words; a variant comes once for each kind, and `{kind}` is filled in."""
    written = write(profile(ORIGIN))
    conditions = {**FIELDS["status"]["conditions"]}
    conditions["targetMissing"] = {**conditions["targetMissing"], "type": "RetryPolicyReady"}
    expected = {name: value for name, value in FIELDS.items() if name != "attachment"}
    status = {**FIELDS["status"], "conditions": conditions, "targetAnnotation": "example.io/retrypolicy"}
    assert written == {**expected, "status": status}


def test_what_is_written_is_read_as_the_same() -> None:
    for found in (profile(ORIGIN), *BUILT_IN):
        document = profile_file(found)
        assert list(problems(cast("Json", document), ProfileFile)) == []
        (again,) = profiles_in(document, ORIGIN)
        assert choices(again) == choices(found), found.group_kind
