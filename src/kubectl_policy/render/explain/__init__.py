"""`explain` for people and for programs."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

EXPLANATION: Final = Forms(
    headline="explain.tree:explanation_headline",
    tree="explain.tree:explanation_tree",
    document="explain.documents:EXPLANATION",
)
