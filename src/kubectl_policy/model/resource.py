"""One object as it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.origin import Origin
    from kubectl_policy.model.refs import ObjectRef


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """An object with its origin. `raw` is never mutated; `created` is None where no creationTimestamp is known."""

    ref: ObjectRef
    origin: Origin
    raw: Mapping[str, Json]
    created: datetime | None = None
