"""Commands that are played back, and how cassettes are read; pytest-recording has the fixtures that do it."""

import json
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import pytest

from kubectl_policy import cli
from tests.recorded.cassettes import FOLDER, SERVER, Format, same_accept

# vcrpy has no types.
NOT_RECORDED: Final[Any] = import_module("vcr.errors").CannotOverwriteExistingCassetteException
CONFIG: Final = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "recorded", "cluster": {"server": SERVER}}],
    "users": [{"name": "recorded", "user": {"token": "not-in-any-cassette"}}],
    "contexts": [{"name": "recorded", "context": {"cluster": "recorded", "user": "recorded"}}],
    "current-context": "recorded",
}


class Result(NamedTuple):
    code: int
    out: str
    err: str


class Played(Protocol):
    """Runs a command line in this process, on what the server answered to the user of the cassette."""

    def __call__(self, words: str) -> Result: ...


def pytest_recording_configure(vcr: Any) -> None:  # noqa: ANN401 (see above)
    """Read our own format, and tell forms of answers apart."""
    vcr.register_serializer("json", Format)
    vcr.register_matcher("accept", same_accept)


@pytest.fixture
def vcr_config() -> dict[str, Any]:
    """Nothing is ever recorded here, and a request may come again: commands do not know of each other."""
    return {
        "record_mode": "none",
        "serializer": "json",
        "match_on": ["method", "scheme", "host", "port", "path", "query", "accept"],
        "allow_playback_repeats": True,
    }


@pytest.fixture(scope="module")
def vcr_cassette_dir() -> str:
    """One cassette for each user, for all commands."""
    return str(FOLDER)


@pytest.fixture(autouse=True)
def in_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a thread makes a connection, vcrpy takes back what it patched, and others would reach for the network."""
    monkeypatch.setattr("vcr.patch.force_reset", nullcontext)


@pytest.fixture(autouse=True)
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorded cluster is that of the current context, and nothing is remembered of it."""
    (tmp_path / "config").write_text(json.dumps(CONFIG))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("KUBECACHEDIR", str(tmp_path / "cache"))


@pytest.fixture
def played(capsys: pytest.CaptureFixture[str]) -> Played:
    def call(words: str) -> Result:
        try:
            code = cli.run(words.split())
        except NOT_RECORDED as error:
            pytest.fail(f"not recorded: {error.failed_request}; `make record` records all commands anew", pytrace=False)
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return call
