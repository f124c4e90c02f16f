"""The time from which the ages of objects are counted, for all tests of this folder."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kubectl_policy.render import metadata_columns
from tests.build import EPOCH


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata_columns, "now", lambda: EPOCH + timedelta(hours=2))
