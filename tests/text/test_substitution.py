"""Variables in a text: what each notation becomes, what stays, and what no value can do."""

import time

import pytest

from kubectl_policy.text import DocumentError
from kubectl_policy.text.substitution import MAX_ADDED, substitute

VALUES = {"A": "alpha", "B": "beta.example.com", "EMPTY": "", "PORT": "8080", "AGAIN": "${A}$$", "_x1": "y"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("name: ${A}", "name: alpha"),
        ("name: x-${A}-${_x1}-z", "name: x-alpha-y-z"),
        ("name: ${EMPTY}x ${A}", "name: x alpha"),
        ("name: $A $", "name: $A $"),
        # The default is taken where a variable is empty, whatever the sign (toDefault in envsubst).
        ("${EMPTY:-d} ${EMPTY:=d} ${EMPTY=d} ${EMPTY:?d} ${EMPTY:+d} ${EMPTY:-}", "d d d d d "),
        ("${A:-d} ${A:=d} ${A=d} ${A:?d} ${A:+d}", "alpha alpha alpha alpha alpha"),
        ("${EMPTY:-${A}} ${EMPTY:-x${EMPTY:-y${A}}z} ${A:-${B}}", "alpha xyalphaz alpha"),
        ("${EMPTY:-a b: {c}d", "a b: {cd"),
        ("${EMPTY:=$$x} ${EMPTY:=$${A}}", "$$x $alpha"),
        ("$${A} $$A ${A} $$", "${A} $A alpha $"),
        ("${AGAIN}", "${A}$$"),
        ("${A^} ${A^^} ${B,} ${B,,} ${EMPTY^}", "Alpha ALPHA beta.example.com beta.example.com "),
        ("${A:1} ${A:1:2} ${A:-2:1} ${A:9}", "lpha lp alpha "),
        ("${B/e/x} ${B//e/x} ${B//./}", "bxta.example.com bxta.xxamplx.com betaexamplecom"),
        ("${B/#beta/x} ${B/%com/x}", "x.example.com beta.example.x"),
        ("${B/#com/x} ${B/%beta/x}", "beta.example.com beta.example.com"),
        # Kustomize leaves out the quotes, and Flux fills in afterwards.
        ('port: "${PORT}"', "port: 8080"),
        ("port: '${PORT:-9}'", "port: 8080"),
        ('{timeout: "${EMPTY}", retries: 2}', "{timeout: null, retries: 2}"),
        ('{"port":"${EMPTY:=80}","is":"${EMPTY:=true}"}', '{"port":80,"is":true}'),
        ('name: "${A}"', 'name: "alpha"'),
        ('name: "${B}:${PORT}"', 'name: "beta.example.com:8080"'),
        ('args: "a"${PORT}"b"', 'args: "a"8080"b"'),
        ("no variables $$", "no variables $"),
        ("none", "none"),
    ],
)
@pytest.mark.parametrize("closed", [True, False])
def test_what_a_text_becomes(text: str, filled: str, *, closed: bool) -> None:
    assert substitute(text, VALUES, closed=closed) == filled


@pytest.mark.parametrize(
    ("text", "opened", "closed"),
    [
        ("name: ${C}-${A}", "name: ${C}-alpha", "name: -alpha"),
        ("${C:-d} ${C:=${A}} ${C=${D}} ${C:?${D:-x}y}", "${C:-d} ${C:=alpha} ${C=${D}} ${C:?${D:-x}y}", "d alpha  xy"),
        ("${C^^} ${C:1} ${C/a/b}", "${C^^} ${C:1} ${C/a/b}", "  "),
        ('port: "${C:-80}"', 'port: "${C:-80}"', "port: 80"),
    ],
)
def test_what_nobody_told(text: str, opened: str, closed: str) -> None:
    """It may have a value that was not told, or none: then its default counts."""
    assert substitute(text, VALUES) == opened
    assert substitute(text, VALUES, closed=True) == closed


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("${} ${A", None),
        # Flux knows no `-` without a colon.
        ("${A-d}", None),
        # What is left of Flux's is not known here.
        ("${A%%a}", None),
        ("${#A}", None),
        ("${A: -2}", None),
        # A default ends on its line.
        ("${EMPTY:-a\nb} ${A}", "${EMPTY:-a\nb} alpha"),
        ("${EMPTY:-${D:-a\nb} ${A}", "${EMPTY:-${D:-a\nb} alpha"),
    ],
)
def test_what_is_no_variable(text: str, left: str | None) -> None:
    """It stays, or is refused where Flux would have filled in everything."""
    assert substitute(text, VALUES) == (left or text)
    with pytest.raises(DocumentError) as refused:
        substitute(f"a: ${{A}}\n---\n{text}", VALUES, closed=True)
    assert (refused.value.problem.reason, refused.value.problem.line) == ("syntax-error", 2)
    assert "cannot be filled in: ${" in refused.value.problem.message


@pytest.mark.parametrize(
    "mark",
    [
        "kustomize.toolkit.fluxcd.io/substitute: disabled",
        "kustomize.toolkit.fluxcd.io/substitute: 'disabled'",
        '"kustomize.toolkit.fluxcd.io/substitute":"disabled"',
    ],
)
def test_documents_that_want_nothing_filled_in(mark: str) -> None:
    assert substitute(f"a: ${{A}}\n---\n{mark}\nb: $${{A}}\n---\nc: ${{A}}", VALUES) == (
        f"a: alpha\n---\n{mark}\nb: $${{A}}\n---\nc: alpha"
    )


def test_values_keep_lines() -> None:
    """A value with line breaks is written on one line, as Flux does it."""
    assert substitute("a: ${V}\nb: 1", {"V": "x\r\nkind: y\n"}) == "a: xkind: y\nb: 1"


def test_a_text_that_would_become_too_large() -> None:
    text = "x: ${A:=1}\n---\n" + "y: [" + "${LONG}, ${E:-${LONG}}" * 100 + "]"
    with pytest.raises(DocumentError) as refused:
        substitute(text, {"LONG": "x" * (MAX_ADDED // 100), "E": ""})
    assert (refused.value.problem.reason, refused.value.problem.line) == ("too-large", 2)


@pytest.mark.parametrize(
    "piece", ["${a:-", "${a:-}", "${a/x", "${a:-${b:=", '"${', "$$", "${a", "}", '"${a:-"', "${a:-\n"]
)
def test_long_texts_take_no_longer_than_their_length(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    substitute(text + "${", {"b": "1"})
    assert time.process_time() - started < 3
