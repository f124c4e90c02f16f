"""The lines of values."""

from __future__ import annotations

import pytest

from kubectl_policy.text import DocumentError
from kubectl_policy.text.events import places


def test_a_text_that_is_too_deep_has_no_places() -> None:
    """It may have changed since it was read; each place knows the way to it, which is not to become that long."""
    with pytest.raises(DocumentError, match="nested more than 200 levels deep"):
        list(places("[" * 300))
