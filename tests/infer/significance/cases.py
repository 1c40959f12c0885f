"""The published figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES: dict[str, Any] = json.loads((Path(__file__).parents[2] / "data" / "cases.json").read_text(encoding="utf-8"))
