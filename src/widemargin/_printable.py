"""Make untrusted text safe to print: characters that control a terminal become visible escapes.

Labels, texts, column names, file names and excerpts come from untrusted files. An escape sequence in them can
recolor, retitle or overwrite a terminal; a bidirectional override can make a line look like another one.
"""

from __future__ import annotations

import re

# C0 controls, DEL, C1 controls, bidirectional embeddings, overrides and isolates, lone surrogates.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Characters that json.dumps does not escape with ensure_ascii=False.
_JSON_CONTROLS = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def printable(text: object, keep: str = "") -> str:
    r"""`text` with control characters written as escapes, except those in `keep`.

    Examples
    --------
    >>> print(printable("\x1b[2Jspam\u202e\n"))
    \x1b[2Jspam\u202e\n
    >>> printable("naïve\n", keep="\n")
    'naïve\n'
    """

    def escape(found: re.Match[str]) -> str:
        character = found[0]
        if character in keep:
            return character
        code = ord(character)
        return _NAMED.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")

    return _CONTROLS.sub(escape, str(text))


def printable_json(text: str) -> str:
    r"""JSON `text` with control characters inside its strings as JSON's own escapes: the same value.

    Examples
    --------
    >>> printable_json('{"label": "\u202eham"}')
    '{"label": "\\u202eham"}'
    """
    return _JSON_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
