"""One object as it was read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.origin import Origin
    from kubectl_policy.model.refs import ObjectRef

_AFTER_ALL: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """An object with its origin. `raw` is never mutated; `created` is None where no creationTimestamp is known."""

    ref: ObjectRef
    origin: Origin
    raw: Mapping[str, Json]
    created: datetime | None = None

    @property
    def seniority(self) -> tuple[datetime, str]:
        """What orders objects wherever the API lets the oldest win; those of unknown age come last.

        "The oldest ... based on creation timestamp", then "the first in alphabetical order by {namespace}/{name}"
        (GEP-713, "Conflict resolution"; GEP-1713 for ListenerSets).
        """
        return self.created or _AFTER_ALL, self.ref.qualified_name
