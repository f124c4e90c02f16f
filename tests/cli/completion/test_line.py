"""What has been typed: values belong to options as they do when the command is run."""

from __future__ import annotations

import pytest

from kubectl_policy.cli.syntax import parse_line


@pytest.mark.parametrize(
    ("words", "values", "arguments"),
    [
        (["-n", "a", ""], {"namespace": ["a"]}, []),
        (["-na", ""], {"namespace": ["a"]}, []),
        (["--namespace=a", "--namespace", "b", ""], {"namespace": ["a", "b"]}, []),
        (["--namespace=", ""], {"namespace": [""]}, []),
        (["-An", "a", "x", ""], {"all_namespaces": [""], "namespace": ["a"]}, ["x"]),
        (["-A", "x", ""], {"all_namespaces": [""]}, ["x"]),
        (["routes", "--", "-n", ""], {}, ["routes", "-n"]),
        (["-", ""], {}, ["-"]),
        (["--unheard-of", "x", ""], {}, ["x"]),
        (["-n=a", "-A=false", ""], {"namespace": ["a"], "all_namespaces": ["false"]}, []),
        (["--unheard-of=1", "-Z", "x", ""], {}, ["x"]),
        (["-n", "--", ""], {"namespace": ["--"]}, []),
    ],
)
def test_words_before_the_cursor(words: list[str], values: dict[str, object], arguments: list[str]) -> None:
    line = parse_line("get", words)
    assert (line.values, line.arguments, line.option) == (values, arguments, None)


@pytest.mark.parametrize(
    ("arguments", "prefix", "option"),
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
def test_the_word_under_the_cursor(arguments: list[str], prefix: str, option: str) -> None:
    line = parse_line("get", arguments)
    assert (line.prefix, line.option.parameter if line.option else "") == (prefix, option)
