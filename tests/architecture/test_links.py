"""Pages lead to one another: no link is broken, and the README leads to every page of docs."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
NAMED = re.compile(r"`((?:proofs|docs|benchmarks|tests|tools)/[\w/.-]+\.(?:md|py))`")
SOURCE = re.compile(r"`(?:src/tacit/)?(\w+/[\w/]+\.py)`")
FOLDERS = ("docs", "proofs", "benchmarks")


def pages(root: Path) -> Iterator[Path]:
    yield from sorted(root.glob("*.md"))
    for folder in FOLDERS:
        yield from sorted((root / folder).rglob("*.md"))


def anchors(page: Path) -> set[str]:
    """Names that headings of a page go by."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(text))
    return {heading.strip().replace(" ", "-") for heading in words}


def broken_links(root: Path) -> list[str]:
    """Links to files or headings that are not there, and files that are only named."""
    broken = []
    for page in pages(root):
        text = FENCED.sub("", page.read_text(encoding="utf-8"))
        for link in LINK.findall(text):
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(f"{page.relative_to(root)}: {link}")
        named = {name for name in NAMED.findall(text) if not (root / name).exists()}
        for name in SOURCE.findall(text):
            if not any((root / folder / name).exists() for folder in ("src/tacit", ".")):
                named.add(name)
        broken.extend(f"{page.relative_to(root)}: {name}" for name in sorted(named))
    return broken


def test_no_link_is_broken() -> None:
    assert broken_links(ROOT) == []


def test_the_readme_leads_to_every_page_of_docs() -> None:
    linked = set(LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    pages_of_docs = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert pages_of_docs - linked == set()


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# One heading, two\n```\n# no heading\n```\n")
    good = "[a](docs/a.md) [b](docs/a.md#one-heading-two) [c](#top) `docs/a.md`\n# Top\n"
    (tmp_path / "README.md").write_text(good)
    assert broken_links(tmp_path) == []
    bad = "[a](docs/b.md) [b](docs/a.md#no-heading) `proofs/none.md` `noise/none.py`\n"
    (tmp_path / "README.md").write_text(bad)
    assert len(broken_links(tmp_path)) == 4
