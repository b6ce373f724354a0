"""What the documents say is so: links lead somewhere, settings and targets are the real ones."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from slate.settings import ENV_PREFIX, Settings

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
DEFAULTS = {ENV_PREFIX + f.name.upper(): str(f.default) for f in fields(Settings)}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file(page):
    targets = [t for t in LINK.findall(page.read_text()) if "://" not in t and not t.startswith("mailto:")]
    missing = [t for t in targets if not (page.parent / t).exists()]
    assert missing == []


def test_every_setting_is_documented_with_its_default():
    rows = re.findall(
        r"^\| `(SLATE_\w+)` \| (?:`([^`]*)`)? ?\|", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE
    )
    assert dict(rows) == DEFAULTS


def test_every_make_target_that_a_page_names_is_there():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = "\n".join(page.read_text() for page in PAGES)
    named = set(re.findall(r"(?:`|^)make (\w+)", text, re.MULTILINE))
    assert named >= {"demo", "test"}
    assert named <= targets


def test_no_page_names_a_machine_or_a_package_index():
    words = re.compile(r"/root/|/work/|/home/\w|pypi\.org|--index-url|--find-links")
    assert [str(p) for p in [*PAGES, ROOT / "requirements" / "dev.txt"] if words.search(p.read_text())] == []
