"""Where objects live, by what stands around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model import Origin
from kubectl_policy.sources import InputOptions
from tests.sources.tree.build import argo, doubts, flux, read, refs, service, unlisted

if TYPE_CHECKING:
    from pathlib import Path


def test_the_outermost_kustomization_says_it(tmp_path: Path) -> None:
    """What is further in, and the object itself, are overruled; where it is said, is known."""
    snapshot = read(
        tmp_path,
        {
            "base/kustomization.yaml": "namespace: inner\nresources: [a.yaml]",
            "base/a.yaml": service("a", "own"),
            "over/kustomization.yaml": "namespace: outer\nresources: [../base]",
        },
    )
    assert refs(snapshot) == ["outer/a"]
    found = snapshot.resources[0]
    assert found.namespace_from == Origin(str(tmp_path / "over" / "kustomization.yaml"), 1)
    assert found.origin.source == str(tmp_path / "base" / "a.yaml")
    assert found.raw["metadata"] == {"name": "a", "namespace": "outer"}


def test_an_object_keeps_its_own_namespace_where_nothing_else_says_one(tmp_path: Path) -> None:
    """And then nothing around it is named for it."""
    files = {"kustomization.yaml": "resources: [a.yaml]", "a.yaml": service("a", "own")}
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == ["own/a"]
    assert snapshot.resources[0].namespace_from is None


def test_what_has_no_namespace_anywhere_is_in_an_unknown_one(tmp_path: Path) -> None:
    """The same for all that is delivered together; what is in a plain folder is where it is said to be."""
    files = {
        "apps/one/kustomization.yaml": "resources: [a.yaml, sub]",
        "apps/one/a.yaml": service("a"),
        "apps/one/sub/kustomization.yaml": "resources: [b.yaml]",
        "apps/one/sub/b.yaml": service("b"),
        "apps/two/kustomization.yaml": "resources: [c.yaml]",
        "apps/two/c.yaml": service("c"),
        "plain/d.yaml": service("d"),
    }
    assert refs(read(tmp_path, files)) == ["<unknown>/a", "<unknown>/b", "<unknown>/c", "default/d"]
    said = InputOptions(namespace="here")
    assert refs(read(tmp_path, files, options=said)) == ["here/a", "here/b", "here/c", "here/d"]


def test_each_overlay_makes_objects_of_its_own(tmp_path: Path) -> None:
    """With their names and labels; Namespaces are renamed by a namespace alone, definitions by nothing."""
    snapshot = read(
        tmp_path,
        {
            "base/kustomization.yaml": "nameSuffix: -x\nresources: [a.yaml]\ncommonLabels: {app: a}",
            "base/a.yaml": service("a", spec="{selector: {own: x}}")
            + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: old}",
            "dev/kustomization.yaml": (
                "namespace: dev\nnamePrefix: d-\nresources: [../base]\nlabels: [{pairs: {env: dev}}]"
            ),
            "prod/kustomization.yaml": "namespace: prod\nresources: [../base]\ncommonAnnotations: {note: x}",
        },
    )
    assert refs(snapshot) == ["dev/d-a-x", "prod/a-x"]
    assert refs(snapshot, "Namespace") == ["dev", "prod"]
    dev = next(resource for resource in snapshot.resources if resource.ref.name == "d-a-x")
    assert dev.raw["metadata"] == {"name": "d-a-x", "labels": {"app": "a", "env": "dev"}}
    assert dev.raw["spec"] == {"selector": {"own": "x", "app": "a"}}
    prod = next(resource for resource in snapshot.resources if resource.ref.name == "a-x")
    assert prod.raw["metadata"] == {"name": "a-x", "labels": {"app": "a"}, "annotations": {"note": "x"}}
    assert not snapshot.gaps


def test_labels_reach_templates_and_selectors_that_are_there(tmp_path: Path) -> None:
    """As Kustomize does it for its own kinds; where something has another shape, nothing is put."""
    deployment = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {matchLabels: {a: b}}}\n---\n"
    )
    broken = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: broken}\nspec: 7\n---\n"
    policy = (
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: net}\n"
        "spec: {podSelector: {matchLabels: {a: b}}, ingress: [{from: [{podSelector: {}}]}]}\n"
    )
    snapshot = read(
        tmp_path,
        {
            "kustomization.yaml": "namespace: x\ncommonLabels: {c: d}\nresources: [a.yaml]",
            "a.yaml": deployment + broken + policy,
        },
    )
    specs = {resource.ref.name: resource.raw["spec"] for resource in snapshot.resources}
    assert specs["d"] == {
        "selector": {"matchLabels": {"a": "b", "c": "d"}},
        "template": {"metadata": {"labels": {"c": "d"}}},
    }
    assert specs["broken"] == 7
    assert specs["net"] == {
        "podSelector": {"matchLabels": {"a": "b", "c": "d"}},
        "ingress": [{"from": [{"podSelector": {}}]}],
    }


def test_components_change_what_includes_them(tmp_path: Path) -> None:
    """Before the kustomization itself does; what one lists that nothing includes is not applied."""
    snapshot = read(
        tmp_path,
        {
            "part/kustomization.yaml": "kind: Component\nnamespace: part\nresources: [c.yaml]\ncomponents: [../inner]",
            "part/c.yaml": service("c"),
            "inner/kustomization.yaml": "kind: Component\nnamePrefix: i-",
            "one/kustomization.yaml": "resources: [a.yaml]\ncomponents: [../part]",
            "one/a.yaml": service("a"),
            "two/kustomization.yaml": "namespace: two\nresources: [b.yaml]\ncomponents: [../part]",
            "two/b.yaml": service("b"),
            "spare/kustomization.yaml": "kind: Component\nresources: [s.yaml]",
            "spare/s.yaml": service("s"),
        },
    )
    assert refs(snapshot) == ["part/i-a", "part/i-c", "two/i-b", "two/i-c"]
    assert [left_out.subject for left_out in snapshot.left_out] == ["file that nothing applies"]


def test_flux_says_it_for_a_folder(tmp_path: Path) -> None:
    """Over the kustomization there, or over all manifests below it; its own components and names count."""
    snapshot = read(
        tmp_path,
        {
            "clusters/prod/apps.yaml": flux("one", "./apps/one", "  targetNamespace: one\n")
            + flux("two", "./apps/two", "  targetNamespace: two\n  components: [../../part]\n  namePrefix: f-\n")
            + flux("three", "./apps/three"),
            "apps/one/kustomization.yaml": "namespace: no\nresources: [a.yaml]",
            "apps/one/a.yaml": service("a", "own"),
            "apps/two/b.yaml": service("b"),
            "apps/two/deep/c.yaml": service("c"),
            "apps/two/built/kustomization.yaml": "namespace: no\nresources: [d.yaml]",
            "apps/two/built/d.yaml": service("d"),
            "apps/two/built/unlisted.yaml": service("u"),
            "apps/two/part/kustomization.yaml": "kind: Component",
            "apps/three/e.yaml": service("e"),
            "part/kustomization.yaml": "kind: Component\nresources: [p.yaml]",
            "part/p.yaml": service("p"),
        },
    )
    assert refs(snapshot) == ["<unknown>/e", "one/a", "two/f-b", "two/f-c", "two/f-d", "two/f-p"]
    assert refs(snapshot, "Kustomization") == ["flux-system/one", "flux-system/three", "flux-system/two"]
    assert doubts(snapshot, tmp_path) == []
    assert unlisted(snapshot, tmp_path) == ["apps/two/built/unlisted.yaml"]


def test_argo_cd_fills_it_in(tmp_path: Path) -> None:
    """Only where an object names none; of a folder, only what is right in it, unless it is told otherwise."""
    snapshot = read(
        tmp_path,
        {
            "apps.yaml": argo("one", "one", "one")
            + argo("two", "two", "two", ", directory: {recurse: true, exclude: '{drafts/*,x.yaml}', include: '*.yaml'}")
            + argo("three", "three", "three", ", kustomize: {namePrefix: p-, commonLabels: {a: b}}")
            + argo("four", "four", "four", ", kustomize: {namespace: said, patches: [{patch: '[]'}]}")
            + argo("all", "elsewhere", "five"),
            "one/a.yaml": service("a") + "---\n" + service("own", "own"),
            "one/deep/b.yaml": service("b"),
            "two/deep/c.yaml": service("c"),
            "two/drafts/d.yaml": service("d"),
            "two/x.yaml": service("x"),
            "three/kustomization.yaml": "resources: [t.yaml]",
            "three/t.yaml": service("t"),
            "four/kustomization.yaml": "resources: [f.yaml]",
            "four/f.yaml": service("f", "own"),
        },
    )
    assert refs(snapshot) == ["one/a", "own/own", "said/f", "three/p-t", "two/c"]
    assert doubts(snapshot, tmp_path) == [
        "* five/*: Application all (elsewhere not here) may create objects in namespace five",
        "Service said/f: changed by apps.yaml",
    ]
    assert unlisted(snapshot, tmp_path) == ["one/deep/b.yaml", "two/drafts/d.yaml", "two/x.yaml"]


def test_an_application_set(tmp_path: Path) -> None:
    """Of folders and of lists; what a set excludes is not applied, and what other generators give is not known."""
    text = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all, namespace: argocd}
spec:
  generators:
  - git: {directories: [{path: apps/*}, {path: apps/old, exclude: true}]}
  - list: {elements: [{path: more, path.basename: listed}]}
  - clusters: {}
  template:
    metadata: {name: '{{path.basename}}'}
    spec: {source: {path: '{{path}}'}, destination: {namespace: '{{ path.basename }}'}}
"""
    snapshot = read(
        tmp_path,
        {
            "set.yaml": text,
            "apps/one/a.yaml": service("a"),
            "apps/old/o.yaml": service("o"),
            "more/m.yaml": service("m"),
        },
    )
    assert refs(snapshot) == ["listed/m", "one/a"]
    assert unlisted(snapshot, tmp_path) == ["apps/old/o.yaml"]


def test_an_application_that_applies_itself(tmp_path: Path) -> None:
    """It is applied first by hand, and then with the others in its folder."""
    files = {
        "apps/root.yaml": argo("root", "apps", "argocd"),
        "apps/shop.yaml": argo("shop", "shop", "shop"),
        "apps/deep/d.yaml": service("d"),
        "shop/a.yaml": service("a"),
    }
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == ["shop/a"]
    assert refs(snapshot, "Application") == ["argocd/root", "argocd/shop"]
    assert unlisted(snapshot, tmp_path) == ["apps/deep/d.yaml"]


@pytest.mark.parametrize("named", ["over", "over/kustomization.yaml"])
def test_what_lies_outside_is_read_too(tmp_path: Path, named: str) -> None:
    """A base is used without having been named; what lies outside of the repository is not."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    snapshot = read(
        tmp_path,
        {
            "repo/over/kustomization.yaml": "namespace: o\nresources: [../base, ../b.yaml, ../../out, ../none.yaml]",
            "repo/base/kustomization.yml": "resources: [a.yaml]",
            "repo/base/a.yaml": service("a"),
            "repo/base/unlisted.yaml": service("no"),
            "repo/b.yaml": service("b"),
            "out/kustomization.yaml": "resources: [x.yaml]",
            "out/x.yaml": service("x"),
        },
        f"repo/{named}",
    )
    assert refs(snapshot) == ["o/a", "o/b"]
    assert [text.partition(", which")[0] for text in doubts(snapshot, tmp_path)] == [
        "* o/*: repo/over/kustomization.yaml takes in ../../out",
        "* o/*: repo/over/kustomization.yaml takes in ../none.yaml",
    ]


def test_circles_and_depth(tmp_path: Path) -> None:
    """Kustomizations that include each other are not applied, and those of a thousand steps are followed to the end."""
    files = {
        "a/kustomization.yaml": "resources: [../b, s.yaml]",
        "a/s.yaml": service("s"),
        "b/kustomization.yaml": "resources: [../a]",
        "deep/0/kustomization.yaml": "namespace: top\nresources: [../1]",
    }
    for number in range(1, 1_000):
        files[f"deep/{number}/kustomization.yaml"] = f"resources: [../{number + 1}]"
    files["deep/1000/kustomization.yaml"] = "resources: [x.yaml]"
    files["deep/1000/x.yaml"] = service("x")
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == ["top/x"]
    assert unlisted(snapshot, tmp_path) == ["a/s.yaml"]


def test_a_base_of_very_many_overlays(tmp_path: Path) -> None:
    """Every one of them makes objects of its own."""
    files = {"base/kustomization.yaml": "resources: [a.yaml]", "base/a.yaml": service("a")}
    for number in range(40):
        files[f"over/{number}/kustomization.yaml"] = (
            f"namespace: n{number}\nnamePrefix: p{number}-\nresources: [../../base]"
        )
    assert refs(read(tmp_path, files)) == sorted(f"n{number}/p{number}-a" for number in range(40))


def test_words_in_what_delivers_are_text_where_kustomize_takes_them_in(tmp_path: Path) -> None:
    """`n` and `yes` are no booleans to Kustomize; a namespace may be called so, and a variable have that value."""
    files = {
        "apps/kustomization.yaml": "resources: [app.yaml]",
        "apps/app.yaml": flux("app", "./app", "  targetNamespace: n\n  postBuild: {substitute: {WORD: yes}}\n"),
        "app/a.yaml": service("a-${WORD}"),
    }
    assert refs(read(tmp_path, files)) == ["n/a-yes"]
