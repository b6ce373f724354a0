"""Where things lie in a checkout: infra always runs from one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
LIBRARY: Final = ROOT / "shared" / "slate"
FUNCTIONS: Final = ROOT / "functions" / "slate_functions"
LOCK: Final = ROOT / "requirements" / "lambda.txt"
DOCUMENT: Final = ROOT / "docs" / "openapi.json"
TOKENIZER_LOCK: Final = ROOT / "requirements" / "tokenizer.txt"
AGENT_LOCK: Final = ROOT / "requirements" / "agent.txt"
AGENT: Final = ROOT / "examples" / "agent"
CDK_JSON: Final = ROOT / "infra" / "cdk.json"
BUILD: Final = ROOT / "build" / "lambda"
ASSEMBLY: Final = ROOT / "cdk.out"
