"""A page to paste a text and see its labels, its scores and the words that matter. It needs no script."""

from __future__ import annotations

import hmac
from typing import Any
from urllib.parse import parse_qsl

from widemargin.errors import WidemarginError
from widemargin.report.html.escaping import escaped, isolated
from widemargin.report.html.highlight import STYLE, highlighted
from widemargin.report.predictions import prediction_rows
from widemargin.serve.answers import plain_texts
from widemargin.serve.guard import token_digest
from widemargin.serve.problems import Problem
from widemargin.serve.registry import Registry, ServedModel
from widemargin.serve.settings import Settings

_SHOWN = 10
_MOST_FIELDS = 100

STYLE_SHEET = (
    """\
:root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 50rem; padding: 1rem; overflow-wrap: anywhere; }
label { display: block; font-weight: 600; margin-top: .75rem; }
textarea, input { box-sizing: border-box; font: inherit; padding: .4rem; width: 100%; }
button { font: inherit; margin-top: .75rem; padding: .5rem 1.25rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid GrayText; padding: .3rem .5rem .3rem 0; text-align: left; }
td.number, th.number { font-variant-numeric: tabular-nums; text-align: right; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; }
.problem { border-left: .3rem solid #b3261e; padding-left: .75rem; }
"""
    + STYLE
)


class Page:
    """The page, empty or with an answer."""

    def __init__(self, models: Registry, settings: Settings) -> None:
        self._models = models
        self._token = None if settings.token is None else token_digest(settings.token)

    def empty(self, name: str | None) -> bytes:
        """The form for a model; the first one by default."""
        return self._made(self._model(name), {}, "")

    def answer(self, body: bytes) -> bytes:
        """The form that was sent, with the labels and the words of its text.

        Raises
        ------
        Problem
            The form is damaged, or its token is wrong.
        """
        try:
            given = dict(
                parse_qsl(
                    body.decode("ascii"),
                    keep_blank_values=True,
                    errors="strict",
                    max_num_fields=_MOST_FIELDS,
                )
            )
        except ValueError:
            raise Problem(422, "The form is not UTF-8, or has too many fields.") from None
        if self._token is not None:
            token = token_digest(given.get("token", "").encode("utf-8", "replace").decode("latin-1"))
            if not hmac.compare_digest(token, self._token):
                raise Problem(401, "The token is missing or wrong.", {"WWW-Authenticate": "Bearer"})
        model = self._model(given.get("model"))
        return self._made(model, given, self._result(model, given))

    def _model(self, name: str | None) -> ServedModel:
        return self._models.models[0] if name is None else self._models.model(name)

    def _result(self, model: ServedModel, given: dict[str, str]) -> str:
        columns = model.columns
        text: Any = (
            {column: given.get(f"text.{column}") for column in columns} if columns else given.get("text", "")
        )
        scorer = model.scorer
        (joined,) = plain_texts(model, [text])
        scores, lengths = scorer.scores([joined]), scorer.lengths([joined])
        proba = scorer.rule.calibration is not None
        (row,) = prediction_rows(scorer.rule, scores, lengths, proba=proba, top=_SHOWN)
        parts = [
            '<section aria-labelledby="labels"><h2 id="labels">Labels</h2>',
            f"<p>{', '.join(map(isolated, row['labels'])) or 'none'}</p>",
            _table(row, proba),
            "</section>",
        ]
        try:
            found = scorer.explain(joined)
        except WidemarginError as error:
            return "".join([*parts, f"<p>{escaped(error)}</p>"])
        spans = [(start, end, part.value) for part in found.contributions for start, end in part.spans]
        parts += [
            '<section aria-labelledby="words">',
            f'<h2 id="words">Words for and against {isolated(found.label)}</h2>',
            "<p>Words for the label have a solid line, words against it a dotted one.</p>",
            f"<p>{highlighted(joined, spans)}</p></section>",
        ]
        return "".join(parts)

    def _made(self, model: ServedModel, given: dict[str, str], result: str) -> bytes:
        fields = []
        for column in model.columns or (None,):
            name, title = ("text", "Text") if column is None else (f"text.{column}", column)
            fields.append(
                f'<label for="{escaped(name)}">{escaped(title)}</label>'
                f'<textarea id="{escaped(name)}" name="{escaped(name)}" rows="6" dir="auto">'
                f"\n{escaped(given.get(name, ''), keep=chr(10) + chr(13) + chr(9))}</textarea>"
            )
        if self._token is not None:
            fields.append(
                '<label for="token">Token</label>'
                '<input id="token" name="token" type="password" autocomplete="off" required>'
            )
        return _PAGE.format(
            name=escaped(model.name),
            version=escaped(model.version),
            models=self._links(model),
            fields="".join(fields),
            result=f'<div role="status">{result}</div>' if result else "",
        ).encode()

    def _links(self, current: ServedModel) -> str:
        if len(self._models.names) == 1:
            return ""
        links = (
            f'<li><a href="/?model={escaped(name)}"{" aria-current=page" if name == current.name else ""}>'
            f"{escaped(name)}</a></li>"
            for name in self._models.names
        )
        return f'<nav aria-label="Models"><ul>{"".join(links)}</ul></nav>'


def _table(row: dict[str, Any], proba: bool) -> str:
    heads = ["Label", "Score", *(["Probability"] if proba else []), "Assigned"]
    numbers = {"Score", "Probability"}
    head = "".join(f'<th scope="col"{_NUMBER if name in numbers else ""}>{name}</th>' for name in heads)
    lines = []
    for entry in row["top"]:
        chance = f"<td{_NUMBER}>{entry['probability']:.3f}</td>" if proba else ""
        assigned = "yes" if entry["label"] in row["labels"] else ""
        lines.append(
            f'<tr><th scope="row">{isolated(entry["label"])}</th><td{_NUMBER}>{entry["score"]:+.4f}</td>'
            f"{chance}<td>{assigned}</td></tr>"
        )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


_NUMBER = ' class="number"'
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name} - widemargin</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
<h1>{name}</h1>
<p>Version {version}. Programs use <a href="/openapi.json">/v1/predict</a>.</p>
{models}
<form method="post" action="/">
<input type="hidden" name="model" value="{name}">
{fields}
<button type="submit">Label</button>
</form>
{result}
</main>
</body>
</html>
"""
