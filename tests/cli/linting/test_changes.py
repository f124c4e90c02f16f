"""`--diff-base`: what a change makes worse, against a revision of git or another folder."""

from __future__ import annotations

import tarfile
from pathlib import Path
from shutil import copytree, rmtree
from typing import TYPE_CHECKING

import pytest

from tests.cli.linting.conftest import PARENT, SECTION, SHOP, TOKEN, WORLDS, Lint
from tests.lint.policy_manifests import CORS, gateway, policy, route, service
from tests.repository import Repository, alone
from tests.sources.rendering.trees import write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Command

BEFORE = route() + service() + route("old", section="htp")
# What the change makes worse, where the policy was and in the file of the routes, and what it mends there.
LOST = "platform.yaml:15 error GWP9101 HTTPRoute shop/cart"
MADE = "shop.yaml:27 error GWP4002 HTTPRoute shop/late"
MENDED = "shop.yaml:19 error GWP4002 HTTPRoute shop/old"
# A policy that replaces the one on the Gateway, and a kustomization that adds it.
OWN = policy("SecurityPolicy", "HTTPRoute/list", CORS)
MORE = "resources: [../../base, more.yaml]\n"
CHECKED = "--select=GWP4002,GWP9"


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """A commit `base` with an error, a policy and a broken file, and behind it a change that is not committed.

    The change mends the error, makes another one, and loses the policy. Nothing is changed by tests.
    """
    with pytest.MonkeyPatch.context() as patched:
        made = alone(tmp_path_factory.mktemp("changes"), patched)
        made.write("empty/README.md", "x")
        made.commit()
        made.git("tag", "nothing")
        made.write("apps/shop/platform.yaml", gateway() + TOKEN)
        made.write("apps/shop/shop.yaml", BEFORE)
        made.write("apps/broken.yaml", "a: [\napiVersion: v1\nkind: Service\n")
        made.write("tree/base/kustomization.yaml", "resources: [all.yaml]\n")
        made.write("tree/base/all.yaml", WORLDS["wrong.yaml"])
        made.write("tree/overlay/kustomization.yaml", "resources: [../base]\n")
        made.commit()
        made.git("tag", "base")
        made.write("tree/base/all.yaml", SHOP)
        made.write("apps/shop/platform.yaml", gateway())
        made.write("apps/shop/shop.yaml", route() + service() + route("old") + route("late", section="htps"))
        made.write("new/new.yaml", WORLDS["wrong.yaml"])
        yield made


@pytest.fixture(autouse=True)
def repository(changed: Repository, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Goes to the root of the repository."""
    monkeypatch.chdir(changed.folder)
    return changed.folder


@pytest.mark.parametrize(
    ("folder", "path", "begins"),
    [
        ("", "apps/shop", "apps/shop/"),
        ("", "./apps/shop/", "apps/shop/"),
        ("apps", "shop", "shop/"),
        ("apps/shop", ".", ""),
        ("apps/shop", "../../apps/shop", "../../apps/shop/"),
        ("empty", "../apps/shop", "../apps/shop/"),
    ],
)
def test_a_revision(lint: Lint, monkeypatch: pytest.MonkeyPatch, folder: str, path: str, begins: str) -> None:
    """At the same path, wherever the command is started. What is gone is named as if it was there."""
    monkeypatch.chdir(folder or ".")
    result = lint(path, "--diff-base", "base")
    assert (result.code, result.findings) == (1, [f"{begins}{LOST}", f"{begins}{MADE}"])
    assert result.said("fixed") == [f"{begins}{MENDED}"]
    assert (result.document["since"], result.err) == ("base", "")


def test_a_security_setting_is_lost(lint: Lint) -> None:
    findings = lint("apps/shop", "--diff-base", "base", "--select", "GWP9101").document["findings"]
    assert [finding["message"] for finding in findings] == [
        "jwt.providers (example) of SecurityPolicy is lost for rule all of HTTPRoute shop/cart"
    ]
    ((route_, before),) = (finding["related"] for finding in findings)
    assert (route_["object"]["name"], route_["origin"]["line"]) == ("cart", 2)
    assert (before["object"]["name"], before["words"]) == ("public", "set it before")
    assert before["origin"]["source"] == "apps/shop/platform.yaml"
    assert lint("apps/shop", "--select", "GWP9101").findings == []


def test_an_absolute_path(lint: Lint, repository: Path) -> None:
    """What was is named like what is."""
    result = lint(repository / "apps", "--diff-base", "base", CHECKED)
    assert result.findings == [f"{repository}/apps/shop/{LOST}", f"{repository}/apps/shop/{MADE}"]
    assert result.said("fixed") == [f"{repository}/apps/shop/{MENDED}"]


@pytest.mark.parametrize(
    ("path", "base"), [("apps/shop", "b"), ("n.tar", "b"), ("n.tar", "b.tar"), ("apps/shop", "b.tar")]
)
def test_archives(lint: Lint, changed: Repository, tmp_path: Path, path: str, base: str) -> None:
    """What was is named like what is, whichever of them is packed."""
    changed.git("archive", f"--output={tmp_path}/b.tar", "base:apps/shop")
    with tarfile.open(tmp_path / "b.tar") as archive:
        archive.extractall(tmp_path / "b", filter="data")
    with tarfile.open(tmp_path / "n.tar", "w") as archive:
        archive.add("apps/shop", ".")
    here, begins = (f"{tmp_path}/{path}", f"{tmp_path}/{path}:") if path == "n.tar" else (path, f"{path}/")
    result = lint(here, "--diff-base", f"{tmp_path}/{base}")
    assert (result.code, result.findings) == (1, [f"{begins}{LOST}", f"{begins}{MADE}"])
    assert result.said("fixed") == [f"{begins}{MENDED}"]


@pytest.mark.parametrize(("folder", "path"), [("", "apps/shop/shop.yaml"), ("apps", "shop/shop.yaml")])
def test_a_file_alone(lint: Lint, monkeypatch: pytest.MonkeyPatch, folder: str, path: str) -> None:
    """What could not be told before either is nothing new."""
    monkeypatch.chdir(folder or ".")
    result = lint(path, "--diff-base", "base")
    assert (result.code, result.findings, result.said("known")[0].split()[1:]) == (0, [], ["info", "GWP0001"])


@pytest.mark.parametrize(("folder", "path"), [("", "tree/overlay"), ("tree/overlay", "."), ("tree/base", "../overlay")])
def test_files_outside_of_the_folder(lint: Lint, monkeypatch: pytest.MonkeyPatch, folder: str, path: str) -> None:
    monkeypatch.chdir(folder or ".")
    result = lint(path, "--diff-base", "base")
    begins = {"": "tree/base/", "tree/overlay": "../base/", "tree/base": ""}[folder]
    assert (result.findings, result.said("fixed")) == ([], [f"{begins}all.yaml:19 {SECTION}"])


@pytest.mark.parametrize(("folder", "path"), [("", "."), ("", "apps"), ("apps", "."), ("apps/shop", "..")])
def test_a_file_that_was_broken_before(lint: Lint, monkeypatch: pytest.MonkeyPatch, folder: str, path: str) -> None:
    """Is known, so that the exit code is not 4."""
    monkeypatch.chdir(folder or ".")
    result = lint(path, "--diff-base", "base", "--exclude", "new", "--exclude", "tree")
    assert (result.code, [each.split()[2] for each in result.said("known")]) == (1, ["GWP0004"])


def test_it_is_as_bad_as_ever(lint: Lint) -> None:
    words = ("apps/shop", "--diff-base", "base")
    assert lint(*words, "--fail-on", "never").code == 0
    assert lint(*words, "--select", "GWP4").findings == [f"apps/shop/{MADE}"]
    assert lint(*words, "--severity", "GWP9=info", "--min-severity", "error").findings == [f"apps/shop/{MADE}"]


def test_the_base_may_have_had_nothing(lint: Lint) -> None:
    nothing = "there is no such file or folder in base"
    for base, path, why in (
        ("base", "new", f"base:new: {nothing}"),
        ("base", "new/new.yaml", f"base:new/new.yaml: {nothing}"),
        ("nothing", ".", "nothing: it contains no manifests"),
        ("empty", "new", "empty: it contains no manifests"),
    ):
        result = lint(path, "--diff-base", base, "--exclude", "apps", "--exclude", "tree", "--select", "GWP4")
        assert (result.code, result.findings) == (1, [f"new/new.yaml:19 {SECTION}"])
        assert result.err == f"everything counts as new: {why}\n"


def test_what_a_change_adds_and_nothing_decides_is_a_warning(lint: Lint, tmp_path: Path) -> None:
    """At its line, and with the exit code of a warning; it is not decided in documents either."""
    write(tmp_path, {"before/a.yaml": SHOP, "after/a.yaml": SHOP + route("late", backend="late")})
    words = (tmp_path / "after", "--diff-base", tmp_path / "before", "--select", "GWP5")
    result = lint(*words)
    assert (result.code, result.said("unknown")) == (0, [])
    assert result.findings == [f"{tmp_path}/after/a.yaml:34 warning GWP5001 HTTPRoute shop/late"]
    (finding,) = result.document["findings"]
    assert (finding["message"], finding["certain"]) == ("Service shop/late is not in the input (undecided)", False)
    assert result.document["complete"] is False
    assert lint(*words, "--fail-on", "warning").code == 1
    assert lint(*words, "--complete").findings == [f"{tmp_path}/after/a.yaml:34 error GWP5001 HTTPRoute shop/late"]


class TestFolders:
    @pytest.fixture
    def base(self, tmp_path: Path) -> Path:
        """The same as in the revision `base`."""
        folder = tmp_path / "base"
        folder.mkdir()
        (folder / "platform.yaml").write_text(gateway() + TOKEN)
        (folder / "shop.yaml").write_text(BEFORE)
        return folder

    def test_a_folder(self, lint: Lint, base: Path) -> None:
        """What is gone is named as if it was there."""
        result = lint("apps/shop", "--diff-base", base)
        assert result.findings == [f"apps/shop/{LOST}", f"apps/shop/{MADE}"]
        assert result.said("fixed") == [f"apps/shop/{MENDED}"]

    def test_files(self, lint: Lint, base: Path) -> None:
        """Of several, it is not known which one was which."""
        result = lint("apps/shop/shop.yaml", "apps/shop/platform.yaml", "--diff-base", base)
        assert result.findings == ["apps/shop/shop.yaml:2 error GWP9101 HTTPRoute shop/cart", f"apps/shop/{MADE}"]
        assert result.said("fixed") == [f"{base}/{MENDED}"]

    def test_standard_input(self, lint: Lint, base: Path) -> None:
        """As what a chart was rendered to before."""
        result = lint("-", "--diff-base", base, CHECKED, stdin=SHOP)
        assert result.findings == ["<stdin>:15 error GWP9101 HTTPRoute shop/cart"]

    def test_a_file_and_another_one(self, lint: Lint, base: Path) -> None:
        result = lint("new/new.yaml", "--diff-base", base / "shop.yaml", "--complete", "--select", "GWP4")
        assert result.said("fixed") == [f"new/new.yaml:6 {PARENT}", f"new/new.yaml:19 {PARENT.replace('cart', 'old')}"]


@pytest.mark.parametrize(
    ("words", "code", "message", "hint"),
    [
        (["apps", "--diff-base", "gone"], 3, "gone: there is no such revision in this git repository", "it may be a"),
        (["apps", "--diff-base", "-x"], 3, "-x: there is no such revision", "it may be a branch"),
        (["apps", "new", "--diff-base", "base"], 2, "--diff-base REV compares one file or folder", "name one that"),
        (["-", "--diff-base", "base"], 2, "--diff-base REV compares one file or folder", "name one that holds all"),
        (["--diff-base", "base"], 2, "--diff-base compares manifests", "name them: lint . --diff-base REV"),
        (["gone", "--diff-base", "base"], 3, "gone: there is no such file or folder", "check the path"),
    ],
)
def test_what_cannot_be_compared(command: Command, words: list[str], code: int, message: str, hint: str) -> None:
    ended, out, err = command("lint", *words)
    assert (ended, out) == (code, "")
    first, second = err.splitlines()
    assert first.startswith(f"error: {message}")
    assert second.startswith(f"hint: {hint}")


def test_no_repository(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "all.yaml").write_text(SHOP)
    monkeypatch.chdir(tmp_path)
    code, _, err = command("lint", "all.yaml", "--diff-base", "base")
    assert (code, err.splitlines()[0]) == (3, 'error: there is no git repository here to find the revision "base" in')


class TestOverlays:
    @pytest.fixture
    def trees(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Folders with an error in what two overlays have in common, and in one of them another policy."""
        monkeypatch.chdir(tmp_path)
        for tree in ("one", "two"):
            write(
                tmp_path / tree,
                {
                    "base/all.yaml": WORLDS["wrong.yaml"] + route().replace("name: cart,", "name: list,") + TOKEN,
                    "base/kustomization.yaml": "resources: [all.yaml]\n",
                    "overlays/dev/kustomization.yaml": "resources: [../../base]\n",
                },
            )
        write(tmp_path / "two", {"overlays/prod/kustomization.yaml": "resources: [../../base]\n"})

    @pytest.mark.usefixtures("trees")
    @pytest.mark.parametrize(("now", "before"), [("one", "two"), ("two", "one"), ("two", "two")])
    def test_an_overlay_more_or_less(self, lint: Lint, now: str, before: str) -> None:
        result = lint(now, "--diff-base", before, CHECKED)
        assert (result.findings, result.said("fixed")) == ([], [])
        assert result.said("known") == [f"{now}/base/all.yaml:19 {SECTION}"]
        assert result.document["worlds"] == (["dev", "prod"] if now == "two" else [])

    @pytest.mark.usefixtures("trees")
    def test_worse_in_one_of_them(self, lint: Lint) -> None:
        write(Path("two"), {"overlays/prod/more.yaml": OWN, "overlays/prod/kustomization.yaml": MORE})
        result = lint("two", "--diff-base", "one", CHECKED)
        assert result.findings[0] == "two/overlays/prod/more.yaml:2 error GWP9101 HTTPRoute shop/list"
        assert {tuple(finding["worlds"]) for finding in result.document["findings"]} == {("prod",)}


def test_a_folder_that_is_called_as_the_revision_is_not_meant(lint: Lint, repository: Path) -> None:
    """A change that adds such a folder would be compared with itself."""
    folder = repository / "base"
    try:
        copytree(repository / "apps" / "shop", folder)
        assert lint("apps/shop", "--diff-base", "base").findings == [f"apps/shop/{LOST}", f"apps/shop/{MADE}"]
        assert lint("apps/shop", "--diff-base", "./base").findings == []
    finally:
        rmtree(folder)
