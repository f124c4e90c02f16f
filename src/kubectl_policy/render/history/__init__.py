"""`history` for people and for programs."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

HISTORY: Final = Forms(
    headline="history.tree:history_headline",
    tree="history.tree:history_tree",
    document="history.documents:EFFECT_HISTORY",
)
