"""Folders of which a cluster gets one: which ones these are, what they are called, and what each world has of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.errors import UsageError
from kubectl_policy.sources.tree import worlds
from tests.sources.tree.build import BASE, OVERLAYS, argo, refs_in, service, worlds_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@pytest.mark.parametrize(
    "files",
    [
        # What nearly everybody brings along.
        {
            f"{app}/{file}": text
            for app in ("one", "two")
            for file, text in {
                "kustomization.yaml": "resources: [namespace.yaml, app.yaml]",
                "namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: net}\n",
                "app.yaml": service(app, "net"),
            }.items()
        },
        # A small base of what are different things otherwise.
        {
            "common/kustomization.yaml": "resources: [quota.yaml]",
            "common/quota.yaml": service("quota", "net"),
            **{f"{app}/kustomization.yaml": "resources: [../common, a.yaml, b.yaml]" for app in ("one", "two")},
            **{f"{app}/{each}.yaml": service(f"{app}-{each}", "net") for app in ("one", "two") for each in "ab"},
        },
        # Components are made for that.
        {
            "component/kustomization.yaml": "kind: Component\nresources: [login.yaml]",
            "component/login.yaml": service("login"),
            **{
                f"{app}/kustomization.yaml": (
                    f"namespace: {app}\nresources: [a.yaml, b.yaml]\ncomponents: [../component]"
                )
                for app in ("one", "two")
            },
            **{f"{app}/{each}.yaml": service(each) for app in ("one", "two") for each in "ab"},
        },
        # Whoever takes in both applies both.
        {**OVERLAYS, "kustomization.yaml": "resources: [overlays/dev, overlays/prod]"},
        # And so does whoever delivers both.
        {**OVERLAYS, "apps.yaml": argo("dev", "overlays/dev") + argo("prod", "overlays/prod")},
    ],
)
def test_folders_that_are_no_alternatives(tmp_path: Path, files: Mapping[str, str]) -> None:
    """They are all applied."""
    assert [*worlds_in(tmp_path, files)] == [""]


def test_of_one_base(tmp_path: Path) -> None:
    """Each is a world, with all that is not for others."""
    found = worlds_in(tmp_path, OVERLAYS)
    assert refs_in(found) == {
        "dev": ["net/a", "net/b", "net/s"],
        "prod": ["net/a", "net/b", "net/c", "net/s"],
    }
    assert {name: [gap.reason for gap in each.gaps if gap.name == "a"] for name, each in found.items()} == {
        "dev": [f"changed by {tmp_path}/overlays/dev/kustomization.yaml"],
        "prod": [f"changed by {tmp_path}/overlays/prod/kustomization.yaml"],
    }


def test_in_namespaces_of_their_own(tmp_path: Path) -> None:
    """They may be in one cluster for all that their objects tell; one is the other one for somebody else."""
    files = {
        **BASE,
        **{
            f"overlays/{env}/kustomization.yaml": f"namespace: {env}\nresources: [../../base]" for env in ("one", "two")
        },
    }
    assert refs_in(worlds_in(tmp_path, files)) == {"one": ["one/a", "one/b"], "two": ["two/a", "two/b"]}


def test_that_are_copies(tmp_path: Path) -> None:
    """What makes the same objects cannot be in one cluster, whatever it is made of."""
    files = {
        f"{env}/{file}": text
        for env in ("dev", "prod")
        for file, text in {
            "kustomization.yaml": "namespace: net\nresources: [a.yaml]",
            "a.yaml": service("a", spec=f"{{x: {env}}}"),
        }.items()
    }
    found = worlds_in(tmp_path, files)
    assert {name: [one.raw["spec"] for one in each.resources] for name, each in found.items()} == {
        "dev": [{"x": "dev"}],
        "prod": [{"x": "prod"}],
    }


def test_that_are_named_alone(tmp_path: Path) -> None:
    """Their base comes from outside of what is named."""
    assert refs_in(worlds_in(tmp_path, OVERLAYS, "overlays/dev", "overlays/prod")) == {
        "dev": ["net/a", "net/b"],
        "prod": ["net/a", "net/b", "net/c"],
    }


@pytest.mark.parametrize("way", ["apps/{app}/overlays/{env}", "{env}/apps/{app}", "apps/{env}/{app}/deploy"])
def test_of_several_applications(tmp_path: Path, way: str) -> None:
    """Those of one name share a world, as does what has no overlays."""
    files = {
        "apps/third/kustomization.yaml": "namespace: third\nresources: [c.yaml]",
        "apps/third/c.yaml": service("c"),
    }
    for app in ("first", "second"):
        files |= {f"bases/{app}/kustomization.yaml": "resources: [a.yaml]", f"bases/{app}/a.yaml": service(app)}
        for env in ("dev", "prod"):
            place = way.format(app=app, env=env)
            up = "../" * (place.count("/") + 1)
            files[f"{place}/kustomization.yaml"] = f"namespace: {env}\nresources: [{up}bases/{app}]"
    assert refs_in(worlds_in(tmp_path, files)) == {
        "dev": ["dev/first", "dev/second", "third/c"],
        "prod": ["prod/first", "prod/second", "third/c"],
    }


def test_names_that_need_more(tmp_path: Path) -> None:
    """As much of the path as it takes."""
    files = {**BASE}
    for place in ("prod/eu", "prod/us", "dev/eu", "dev/us"):
        files[f"overlays/{place}/kustomization.yaml"] = "namespace: net\nresources: [../../../base]"
    assert [*worlds_in(tmp_path, files)] == ["dev/eu", "dev/us", "prod/eu", "prod/us"]


def test_of_different_depth(tmp_path: Path) -> None:
    """The last part does, where that is enough."""
    files = {
        **BASE,
        "overlays/dev/kustomization.yaml": "namespace: net\nresources: [../../base]",
        "overlays/prod/eu/kustomization.yaml": "namespace: net\nresources: [../../../base]",
        "overlays/prod/us/kustomization.yaml": "namespace: net\nresources: [../../../base]",
    }
    assert [*worlds_in(tmp_path, files)] == ["dev", "eu", "us"]


def test_in_each_other(tmp_path: Path) -> None:
    """The folder that was named has no part of its path left to be called by."""
    files = {
        **BASE,
        "kustomization.yaml": "namespace: net\nresources: [base]",
        "ci/kustomization.yaml": "namespace: net\nresources: [../base]",
    }
    found = worlds_in(tmp_path / "shop", files)
    assert [*found] == ["ci", "shop"]


def test_some_that_others_lack(tmp_path: Path) -> None:
    """Which of the others belongs there is not known: nothing that may be there is missing."""
    files = {
        **OVERLAYS,
        "more/base/kustomization.yaml": "resources: [m.yaml]",
        "more/base/m.yaml": service("m"),
        **{f"more/{env}/kustomization.yaml": "namespace: more\nresources: [../base]" for env in ("dev", "test")},
    }
    found = worlds_in(tmp_path, files)
    assert refs_in(found) == {
        "dev": ["more/m", "net/a", "net/b", "net/s"],
        "prod": ["net/a", "net/b", "net/c", "net/s"],
        "test": ["more/m", "net/s"],
    }
    said = {name: [gap for gap in each.gaps if "nothing says" in gap.reason] for name, each in found.items()}
    assert {name: [gap.reason for gap in gaps] for name, gaps in said.items()} == {
        "dev": [],
        "prod": ["of more/dev, more/test, nothing says what is for prod"],
        "test": ["of overlays/dev, overlays/prod, nothing says what is for test"],
    }
    (gap,) = said["prod"]
    assert (gap.kind, gap.namespace, str(gap.origin)) == ("", "", f"{tmp_path}/more/dev")
    assert gap.mentions is None or "m" in gap.mentions


def test_that_are_many(tmp_path: Path) -> None:
    """Of so many ways through one base, nothing is concluded; in a world there is one."""
    files = {
        **BASE,
        **{
            f"overlays/o{number}/kustomization.yaml": f"namespace: n{number}\nresources: [../../base]"
            for number in range(20)
        },
    }
    assert refs_in(worlds_in(tmp_path, files)) == {f"o{n}": [f"n{n}/a", f"n{n}/b"] for n in range(20)}


def test_that_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read as one world, and that is said; one of them can be asked for."""
    monkeypatch.setattr(worlds, "_MAX_COMPARED", 2)
    monkeypatch.setattr(worlds, "MAX_WORLDS", 2)
    files = {
        **BASE,
        **{f"o{number}/kustomization.yaml": f"namespace: n{number}\nresources: [../base]" for number in range(3)},
    }
    found = worlds_in(tmp_path, files)
    assert refs_in(found) == {"": ["n0/a", "n0/b", "n1/a", "n1/b", "n2/a", "n2/b"]}
    (said,) = found[""].diagnostics
    assert (said.rule, said.severity) == ("too-many-worlds", "warning")
    assert said.message == "the input is for 3 clusters and overlays, too many to tell apart: name one of them"
    assert refs_in(worlds_in(tmp_path, {}, cluster="o1")) == {"": ["n1/a", "n1/b"]}


def test_one_that_was_asked_for(tmp_path: Path) -> None:
    """Is alone, and needs no name; of an unknown one, the known ones are named."""
    assert refs_in(worlds_in(tmp_path, OVERLAYS, cluster="dev")) == {"": ["net/a", "net/b", "net/s"]}
    with pytest.raises(UsageError) as raised:
        worlds_in(tmp_path, {}, cluster="none")
    assert raised.value.hint == "it is for these: dev, prod"
    with pytest.raises(UsageError):
        worlds_in(tmp_path, {}, "spare.yaml", cluster="dev")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """Is said where it matters, and in each world what is wrong there."""
    files = {
        **OVERLAYS,
        "overlays/prod/c.yaml": "kind: [\napiVersion: v1",
        "broken.yaml": "kind: {\napiVersion: v1",
    }
    found = worlds_in(tmp_path, files)
    places = {name: [str(one.origin) for one in each.diagnostics] for name, each in found.items()}
    assert places == {
        "dev": [f"{tmp_path}/broken.yaml:3"],
        "prod": [f"{tmp_path}/broken.yaml:3", f"{tmp_path}/overlays/prod/c.yaml:3"],
    }
