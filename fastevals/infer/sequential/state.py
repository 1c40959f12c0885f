"""The file that keeps the records of nights between looks, for one model and several rules.

The file is JSON. It is written whole or not at all, and two processes that add a night at the same time both add it. A
damaged file, or a file with another identity, is refused and left as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from fastevals._files import locked, write_file
from fastevals._options import listed, show
from fastevals._text import count_of
from fastevals.infer.sequential.records import NAMES, NightRecord, NightTable
from fastevals.results import as_json

FORMAT, STATE_VERSION = "fastevals nightly state", 1
REMEDY = "restore it from a copy, or remove it to start anew"

SHARED = {"night": "nights", "fingerprint": "fingerprints"}  # columns that are the same for all rules, and their keys
HEAD = '{"checksum":"'
Outcome = Literal["added", "replaced", "unchanged", "repeated"]


@dataclass(frozen=True, slots=True)
class NightlyState:
    """The records of all nights so far, by rule.

    Attributes
    ----------
    identity : dict of str to JSON value
        What the records are about, such as models, metrics, rules and the positive class. A file with another identity
        is refused.
    rules : dict of str to NightTable
        Records by rule, in the order in which nights were added. All rules have the same nights and fingerprints.
    """

    identity: Mapping[str, Any]
    rules: Mapping[str, NightTable] = field(default_factory=dict)

    @property
    def nights(self) -> tuple[str, ...]:
        """Names of the nights, in the order in which they were added."""
        return tuple(self._shared("night"))

    def _shared(self, name: str) -> list[str]:
        """Return a column that all rules have."""
        return [each or "" for each in next(iter(self.rules.values()), NightTable({})).column(name)]

    def night_of_rows(self, fingerprint: str, but: str = "") -> str | None:
        """Return the first night, other than `but`, whose rows have a fingerprint; None if there is none."""
        n_samples = zip(*(each.column("n_samples") for each in self.rules.values()), strict=True)
        for night, found, n in zip(self._shared("night"), self._shared("fingerprint"), n_samples, strict=True):
            if found == fingerprint and night != but and any(n):
                return night
        return None

    def with_night(self, records: Mapping[str, NightRecord]) -> tuple[NightlyState, Outcome]:
        """Return the state with a night's records, one per rule, and what they did.

        Parameters
        ----------
        records : mapping of str to NightRecord
            One record of the same night for each rule.

        Returns
        -------
        tuple of NightlyState and {"added", "replaced", "unchanged", "repeated"}
            "replaced": the night was there and was rewritten; its new records take the place of the old ones.
            "unchanged": the same records are there. "repeated": another night has the same fingerprint, so the rows are
            counted already and the state stays as it is.

        Raises
        ------
        ValueError
            If the records are of different nights, or not of the state's rules.
        """
        if not records:
            raise ValueError("records must have one record or more, got none")
        night, fingerprint = _night_of(records)
        if self.rules and set(records) != set(self.rules):
            raise ValueError(f"records must be of the rules {listed(self.rules)}, got {listed(records)}")
        known = self.rules or dict.fromkeys(records, NightTable({}))
        holds_rows = any(each.n_samples for each in records.values())
        if fingerprint and holds_rows and self.night_of_rows(fingerprint, night) is not None:
            return self, "repeated"
        changed = NightlyState(self.identity, {rule: each.with_record(records[rule]) for rule, each in known.items()})
        if night not in self.nights:
            return changed, "added"
        place = self.nights.index(night)
        if all(of_rule[place].to_dict() == records[rule].to_dict() for rule, of_rule in known.items()):
            return self, "unchanged"
        return changed, "replaced"

    def to_json(self) -> str:
        """Return the content of the file, ending in a newline."""
        content = {
            "format": FORMAT,
            "schema_version": STATE_VERSION,
            "identity": as_json(self.identity),
            **{key: self._shared(name) for name, key in SHARED.items()},
            "rules": [[rule, _known_columns(of_rule)] for rule, of_rule in self.rules.items()],
        }
        text = _canonical(content)
        return f'{HEAD}{_hash(text)}",{text[1:]}\n'

    @classmethod
    def from_json(cls, text: str | bytes) -> NightlyState:
        """Return the state that `to_json` wrote.

        Parameters
        ----------
        text : str or bytes
            Content of a file.

        Returns
        -------
        NightlyState

        Raises
        ------
        ValueError
            If the text is not a state of this schema version, whole and unchanged.
        """
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"is not JSON: {error}") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"is not a {FORMAT}")
        version = content.get("schema_version")
        if version != STATE_VERSION:
            raise ValueError(f"has schema version {show(version)}; this version of fastevals reads {STATE_VERSION}")
        stated = content.pop("checksum", None)
        if stated != _hash_of_the_rest(text) and stated != _hash(_canonical(content)):  # white space, order of keys
            raise ValueError("is damaged: its checksum does not match its content")
        shared = {name: content[key] for name, key in SHARED.items()}
        return cls(content["identity"], {rule: NightTable({**shared, **columns}) for rule, columns in content["rules"]})


_parsed = lru_cache(maxsize=1)(NightlyState.from_json)  # a look reads the file before it measures, and then locked


def read_state(path: Path, identity: Mapping[str, Any] | None) -> NightlyState:
    """Return the state in a file, or an empty one if there is no file.

    Parameters
    ----------
    path : Path
        The file.
    identity : mapping of str to JSON value, or None
        What the records are about; None accepts any.

    Returns
    -------
    NightlyState

    Raises
    ------
    ValueError
        If the file is damaged, or has another identity.
    OSError
        If the file can't be read.
    """
    identity = None if identity is None else as_json(identity)
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return NightlyState(identity or {})
    try:
        found = _parsed(text)
    except ValueError as error:
        raise ValueError(f"state file {str(path)!r} {error}; {REMEDY}") from None
    if identity is None:
        return found
    for name in dict.fromkeys([*identity, *found.identity]):
        ours, theirs = (each.get(name, "nothing") for each in (identity, found.identity))
        if ours != theirs:
            nights = count_of(len(found.nights), "night")
            raise ValueError(
                f"state file {str(path)!r} has {nights} with the {name} {show(theirs)}, and not {show(ours)}: use "
                "another file"
            )
    return found


@contextmanager
def updating_state(
    path: Path, identity: Mapping[str, Any], records: Mapping[str, NightRecord]
) -> Iterator[tuple[NightlyState, Outcome]]:
    """Yield what `update_state` returns, and write the file at the end, unless an error is raised."""
    with locked(path):
        state, outcome = read_state(path, identity).with_night(records)
        yield state, outcome
        if outcome in ("added", "replaced"):
            write_file(path, state.to_json().encode(), durable=True)


def update_state(
    path: Path, identity: Mapping[str, Any], records: Mapping[str, NightRecord]
) -> tuple[NightlyState, Outcome]:
    """Add a night to a file, which is made if there is none; other processes wait meanwhile.

    Parameters
    ----------
    path : Path
        The file.
    identity : mapping of str to JSON value
        What the records are about.
    records : mapping of str to NightRecord
        One record of the same night for each rule.

    Returns
    -------
    tuple of NightlyState and {"added", "replaced", "unchanged", "repeated"}
        As for `NightlyState.with_night`.

    Raises
    ------
    ValueError
        If the file is damaged or has another identity, or if the records don't fit it; it stays as it is.
    OSError
        If the file can't be read or written; TimeoutError if another process keeps it locked.
    """
    with updating_state(path, identity, records) as updated:
        return updated


def _known_columns(of_rule: NightTable) -> dict[str, Any]:
    """Return the columns of a rule that have values."""
    columns = {name: list(of_rule.column(name)) for name in NAMES if name not in SHARED}
    return {name: each for name, each in columns.items() if each.count(None) < len(each)}


def _night_of(records: Mapping[str, NightRecord]) -> tuple[str, str]:
    """Return the night and the fingerprint that all records have."""
    found = {(each.night, each.fingerprint) for each in records.values()}
    if len(found) > 1:
        nights = sorted({" ".join(each).strip() for each in found})
        raise ValueError(f"records must be of one night and fingerprint, got {listed(nights)}")
    return next(iter(found))


def _canonical(content: Mapping[str, Any]) -> str:
    """Return the content as text, which does not depend on the order of keys."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _hash_of_the_rest(text: str | bytes) -> str:
    """Return the hash of a file's content without its checksum, if no other program has changed its form."""
    written = text.decode() if isinstance(text, bytes) else text
    return _hash("{" + written[len(HEAD) + hashlib.sha256().digest_size * 2 + len('",') :].rstrip("\n"))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
