"""Where these tests run: a home without a kubeconfig, and no proxy."""

from pathlib import Path

import pytest

_PROXIES = "HTTP_PROXY HTTPS_PROXY NO_PROXY"
_VARIABLES = ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", *_PROXIES.split(), *_PROXIES.lower().split())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without a kubeconfig, and no variable that says anything of clusters or proxies."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"
