"""Selectors as expressions, such as `app == 'web' && has(team)`: read those that labels alone can say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

# A longer one is refused by the definitions that have such selectors.
_MAX_LENGTH: Final = 1024
# A name ends where no further character of one follows.
_KEY: Final = r"[A-Za-z0-9_./-]+(?![A-Za-z0-9_./-])"
_TEXT: Final = r"""(?:"[^"]*"|'[^']*')"""
_LIST: Final = rf"(?:{_TEXT}[ \t]*(?:,[ \t]*{_TEXT}[ \t]*)*,?)?[ \t]*"
_TERM: Final = pattern(
    rf"""[ \t]*(?P<not>(?:![ \t]*)*)(?:
        (?P<all>all\([ \t]*\))
        | has\([ \t]*(?P<present>{_KEY})[ \t]*\)
        | (?P<key>{_KEY})[ \t]*(?:
            (?P<comparison>==|!=)[ \t]*(?P<value>{_TEXT})
            | (?P<negated>not[ \t]*)?in[ \t]*\{{[ \t]*(?P<values>{_LIST})\}}
        )
    )[ \t]*(?P<end>&&|\Z)""",
    re.VERBOSE,
)
_TEXTS: Final = pattern(_TEXT)


def parse_expression(text: str) -> Mapping[str, Json] | None:
    """Parse an expression into a selector of labels; None if no selector of labels says the same, or it has mistakes.

    An empty one selects everything. The grammar is that of projectcalico/calico, libcalico-go/lib/selector, of which
    only terms that are joined by `&&` are read. As there, `!=` and `not in` also match where the label is absent.
    """
    if not text.strip(" \t"):
        return {}
    requirements: list[Json] = []
    term = _TERM.match(text) if len(text) <= _MAX_LENGTH else None
    while term:
        is_negated = term["not"].count("!") % 2 == 1
        if not term["all"]:
            requirements.append(_requirement(term, is_negated=is_negated))
        elif is_negated:
            return None
        if not term["end"]:
            return {"matchExpressions": requirements}
        term = _TERM.match(text, term.end())
    return None


def _requirement(term: re.Match[str], *, is_negated: bool) -> Json:
    """Return the requirement of a term, as in `matchExpressions`."""
    if term["present"]:
        return {"key": term["present"], "operator": "DoesNotExist" if is_negated else "Exists"}
    is_other = (term["comparison"] == "!=" or bool(term["negated"])) is not is_negated
    texts = _TEXTS.findall(term["value"] or term["values"])
    values: Json = [quoted[1:-1] for quoted in texts]
    return {"key": term["key"], "operator": "NotIn" if is_other else "In", "values": values}
