"""The example's modules stand side by side in a folder of their own, as they do when it is run."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "support"))
