"""`graph` for people and for programs."""

from typing import Final

from kubectl_policy.render.output.formats import Forms

GRAPH: Final = Forms(
    headline="graph.words:graph_headline",
    tree="graph.tree.tree:graph_tree",
    document="graph.documents:GRAPH",
    dot="graph.dot:graph_dot",
    mermaid="graph.mermaid:graph_mermaid",
    html="graph.page:graph_page",
    redirected="dot",
)
