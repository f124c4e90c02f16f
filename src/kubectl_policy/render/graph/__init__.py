"""`graph` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from kubectl_policy.questions.graph.picture import Picture
    from kubectl_policy.render.output.text import Document, View


class _Graph(Forms["Picture"]):
    kind = "Graph"

    def headline(self, answer: Picture) -> str:
        from kubectl_policy.render.graph.wording import graph_headline

        return graph_headline(answer)

    def tree(self, answer: Picture, view: View) -> Document:
        from kubectl_policy.render.graph.tree.tree import graph_tree

        return graph_tree(answer, view)

    def dot(self, answer: Picture, view: View) -> str:
        from kubectl_policy.render.graph.dot import graph_dot

        return graph_dot(answer, view)

    def mermaid(self, answer: Picture, view: View) -> str:
        from kubectl_policy.render.graph.mermaid import graph_mermaid

        return graph_mermaid(answer, view)

    def html(self, answer: Picture, view: View) -> str:
        from kubectl_policy.render.graph.page import graph_page

        return graph_page(answer, view)

    redirected = "dot"


GRAPH: Final = _Graph()
