"""Files of rules: TOML with rules and options; the command line adds rules and overrides options."""

from __future__ import annotations

import argparse
import dataclasses
import tomllib
from typing import Any

from fastevals._naming import option
from fastevals._options import did_you_mean, show
from fastevals.show.commands import chosen, fields_of
from fastevals.show.gate.options import GateOptions

RULES = "rules"


def read_rule_file(path: str) -> tuple[list[str], dict[str, Any]]:
    """Return the rules of a file, and its options by their names in Python."""
    called = f"{option(RULES)} {path!r}"
    if not path:
        raise ValueError(f"{option(RULES)} must name a file, got ''")
    with open(path, "rb") as file:
        try:
            found = tomllib.loads(file.read().decode("utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ValueError(f"{called} is not TOML: {error}") from None
    types = {each.name: each for each in dataclasses.fields(GateOptions)}
    rules = found.pop(RULES, [])
    rules = [rules] if isinstance(rules, str) else rules
    if not isinstance(rules, list) or not all(isinstance(each, str) for each in rules):
        raise ValueError(f"{called}: rules must be a text or a list of texts, got {show(rules)}")
    for name in found:
        if name not in types:
            raise ValueError(f"{called} has no option {name!r}{did_you_mean(name, [RULES, *types])}")
    return rules, found


def with_rule_file(arguments: argparse.Namespace) -> tuple[list[str], GateOptions]:
    """Return the rules and options of the command line, completed by the rules and options of a file."""
    options, rules = chosen(GateOptions, vars(arguments)), list(arguments.rule or ())
    if arguments.rules is None:
        return rules, options
    of_file, settings = read_rule_file(arguments.rules)
    if not of_file and not rules:
        raise ValueError(f"{option(RULES)} {arguments.rules!r} has no rules: write rules = ['roc_auc >= 0.8']")
    given = {name for name, _, field in fields_of(GateOptions) if getattr(options, name) != field.default}
    given |= getattr(arguments, "given", set())  # also those that are typed like their default
    kept = {name: value for name, value in settings.items() if name not in given}
    return [*of_file, *rules], dataclasses.replace(options, **kept)
