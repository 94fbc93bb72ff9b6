"""`tacit report`: a page for a data-protection officer, of a certificate, a stored fit or a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tacit.cli import options
from tacit.cli.options import argument, flag
from tacit.cli.output import Screen, require_writable
from tacit.errors import FileError, SettingError
from tacit.files import write_text

if TYPE_CHECKING:
    from tacit.report.page import Page

LEDGERS = (b"tacit-ledger/", b"SQLite format 3\x00")
"""How the file of a ledger begins: of this version, and of the first."""


def report(
    file: Annotated[Path, argument("FILE", "A certificate of a fit or a ledger, a stored fit, or a ledger.")],
    *,
    output: Annotated[Path | None, flag("FILE", "Write a page.", "--output", "-o", default="FILE with .html")] = None,
    text: Annotated[Path | None, flag("FILE", "Write it as plain text too.")] = None,
    key: Annotated[str | None, flag("PUBLIC", "Whose signature is expected: digits or file.")] = None,
    force: options.Force = False,
    screen: Screen,
) -> None:
    """Write a report for a data-protection officer, as one HTML page.

    The page needs no other file and runs no program. It says whom the release protects, what is and is not protected,
    the odds in words, how noise was added, how costs add up, how accurate it is, hazards, and assumed facts. What it
    states is derived again; what does not add up is refused.
    """
    is_ledger = _is_ledger(file)
    target = output or file.with_suffix(".html")
    if target.suffix.lower() not in (".html", ".htm"):
        raise SettingError(f"a report is an .html file; got {target.name!r}. For plain text add --text {target.name}")
    require_writable([target, text], [file], force=force)
    page = page_of(file, key, is_ledger=is_ledger)
    write_text(target, page.html())
    if text is not None:
        write_text(text, page.text())
    written = {"output": str(target), "text": text and str(text), "good": page.good, "verdict": page.verdict}
    screen.result(written)
    screen.say(page.verdict)
    screen.plain(f"  The report is in {target}" + (f" and {text}" if text is not None else ""))


def page_of(file: Path, key: str | None, *, is_ledger: bool) -> Page:
    """The page of a file, whatever of these it is."""
    from tacit.report.ledger_page import joint_page, ledger_page

    if is_ledger:
        from tacit.cli.ledger import existing

        if key is not None:
            raise SettingError("a ledger is not signed; --key is for certificates and stored fits")
        return ledger_page(existing(file), file.name)
    from tacit.certificate import fit_file
    from tacit.certificate.certificate import Certificate
    from tacit.certificate.search_certificate import SearchCertificate
    from tacit.documents.canonical_json import read_document
    from tacit.ledger.joint_certificate import JointCertificate
    from tacit.report.certificate_page import certificate_page

    document = read_document(file)
    if fit_file.is_fit(document):
        return certificate_page(fit_file.from_document(document), key, file.name)
    if document.get("format") in tuple(JointCertificate.formats):
        return joint_page(JointCertificate.of(document), key, file.name)
    kind = SearchCertificate if document.get("format") in tuple(SearchCertificate.formats) else Certificate
    return certificate_page(kind.of(document), key, file.name)


def _is_ledger(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return stream.read(max(map(len, LEDGERS))).startswith(LEDGERS)
    except OSError as error:
        raise FileError(f"{str(file)!r} cannot be read: {error.strerror or 'it is no file'}.") from None
