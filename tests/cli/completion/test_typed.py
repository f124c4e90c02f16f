"""What has been typed: values belong to options as they do when the command is run."""

from __future__ import annotations

import pytest

from kubectl_policy.cli import command_named
from kubectl_policy.cli.completion.typed import typed

PARAMETERS = command_named("get").parameters


@pytest.mark.parametrize(
    ("words", "given", "others"),
    [
        (["-n", "a", ""], {"namespace": ["a"]}, []),
        (["-na", ""], {"namespace": ["a"]}, []),
        (["--namespace=a", "--namespace", "b", ""], {"namespace": ["a", "b"]}, []),
        (["--namespace=", ""], {"namespace": [""]}, []),
        (["-An", "a", "x", ""], {"namespace": ["a"]}, ["x"]),
        (["-A", "x", ""], {"all_namespaces": [""]}, ["x"]),
        (["routes", "--", "-n", ""], {}, ["routes", "-n"]),
        (["-", ""], {}, ["-"]),
        (["--unheard-of", "x", ""], {}, ["x"]),
        (["--unheard-of=1", "-Z", "x", ""], {}, ["x"]),
        (["-n", "--", ""], {"namespace": ["--"]}, []),
    ],
)
def test_words_before_the_cursor(words: list[str], given: dict[str, list[str]], others: list[str]) -> None:
    """Long and short, joined and apart; after `--` there are no options."""
    line = typed(PARAMETERS, words)
    assert (line.given, line.words, line.option) == (given, others, None)


@pytest.mark.parametrize(
    ("words", "completed", "option"),
    [
        (["-n", ""], "", "namespace"),
        (["-n", "-A"], "-A", "namespace"),
        (["-An", "a"], "a", "namespace"),
        (["--namespace=a"], "a", "namespace"),
        (["--field=a=b"], "a=b", "field"),
        (["--"], "--", ""),
        (["--unheard-of=a"], "--unheard-of=a", ""),
        (["--", "--namespace=a"], "--namespace=a", ""),
        (["-A", "a"], "a", ""),
    ],
)
def test_the_word_under_the_cursor(words: list[str], completed: str, option: str) -> None:
    """It is a value of an option, or none."""
    line = typed(PARAMETERS, words)
    assert (line.completed, line.option.name if line.option else "") == (completed, option)
