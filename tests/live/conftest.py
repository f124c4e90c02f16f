"""The server that all tests of this folder share, with the world of fixtures/bakery on it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.live.binaries import NOTHING_THERE, programs
from tests.live.server import Server, running

BAKERY: Final = Path(__file__).parent.parent.parent / "fixtures" / "bakery"
RBAC: Final = Path(__file__).parent / "rbac.yaml"


def pytest_sessionstart() -> None:
    """Without a server to start there is no test to run."""
    if programs() is None:
        pytest.exit(NOTHING_THERE, returncode=0)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server with the experimental channel of Gateway API, fixtures/bakery with its certificates, and users.

    Tests change nothing of that: what they create is in namespaces of their own, where lists of
    all namespaces have it as well.
    """
    found = programs()
    assert found
    with running(found) as started:
        furnish(started)
        yield started


def furnish(server: Server) -> None:
    """Put the world of the tests on an empty server."""
    server.apply(server.programs.definitions / "experimental", BAKERY / "crds.yaml")
    server.apply(BAKERY / "namespaces.yaml", BAKERY, RBAC)
    for name in ("edge-certificate", "admin-certificate"):
        pair = (f"--cert={server.certificate}", f"--key={server.key}")
        server.kubectl("create", "secret", "tls", name, "-n", "infra", *pair)
