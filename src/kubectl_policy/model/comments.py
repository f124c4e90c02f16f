"""Comments that people write into manifests for this program, as they were found there."""

from __future__ import annotations

from kubectl_policy.model.values import value


@value(kw_only=True)
class Comment:
    """A comment, and what it `says` behind the name of this program.

    It is on a `line` (from 1), and is about some `lines`: its own if anything stands before it, else the next one that
    says something, or all of a document if that is its first line; about none if nothing follows.
    """

    line: int
    says: str
    lines: range
