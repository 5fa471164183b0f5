"""What links say about pages: the texts of the anchors that point to each page of a collection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urldefrag, urljoin, urlsplit

from widemargin.documents.corpora.webkb import plain_text

_ANCHOR = re.compile(
    r"<a\s[^>]*?\bhref\s*=\s*(?:\"([^\">]*)\"?|'([^'>]*)'?|([^\s>\"']+))[^>]*>(.*?)</a\s*>",
    re.IGNORECASE | re.DOTALL,
)
# Names that a server adds to an address that ends with a folder.
_DEFAULT_PAGE = re.compile(r"/(?:index|default|home)\.html?$", re.IGNORECASE)


def anchor_texts(addresses: Sequence[str], pages: Sequence[str]) -> list[list[str]]:
    """Of every page, the texts of the links to it from the other pages.

    Parameters
    ----------
    addresses, pages : the address of each page, and its HTML

    Examples
    --------
    >>> pages = ["<a href='cs1.html'>My <b>course</b></a>", "<a href='http://u.edu/~jo/#top'>teacher</a>"]
    >>> anchor_texts(["http://u.edu/~jo/", "http://u.edu/~jo/cs1.html"], pages)
    [['teacher'], ['My course']]
    """
    place: dict[str, list[int]] = {}
    for number, address in enumerate(addresses):
        if (name := canonical(address)) is not None:
            place.setdefault(name, []).append(number)
    found: list[list[str]] = [[] for _ in addresses]
    for number, (address, page) in enumerate(zip(addresses, pages, strict=True)):
        for target, text in links(address, page):
            for pointed in place.get(target, []):
                if pointed != number and text:
                    found[pointed].append(text)
    return found


def links(address: str, page: str) -> Iterator[tuple[str, str]]:
    """The canonical address and the text of every link on a page."""
    for *quoted, inside in _ANCHOR.findall(page):
        try:
            target = canonical(urljoin(address, next((part for part in quoted if part), "").strip()))
        except ValueError:  # such as an unfinished IPv6 address
            continue
        if target is not None:
            # The tag says that there is no HTTP header to remove.
            yield target, " ".join(plain_text(f"<a>{inside}").split())


def canonical(address: str) -> str | None:
    """One form of an address for pages on the web, None for others.

    Examples
    --------
    >>> canonical("http://WWW.U.edu:80/~jo/index.html#top"), canonical("mailto:jo@u.edu")
    ('www.u.edu/~jo', None)
    """
    parts = urlsplit(urldefrag(address).url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    path = _DEFAULT_PAGE.sub("/", parts.path).rstrip("/")
    query = f"?{parts.query}" if parts.query else ""
    return parts.netloc.lower().removesuffix(":80") + path + query
