"""``widemargin serve MODEL...``: models behind HTTP."""

from __future__ import annotations

from widemargin.cli.commands import Given, takes
from widemargin.errors import UsageError

EXAMPLE = "Example: widemargin serve tickets.wm lang=languages.wm --port 8000"


@takes("serve")
def run(given: Given) -> None:
    """Serve models over HTTP: POST /v1/predict labels texts, and GET / is a page to try it.

    A model file that changes is verified and swapped in; no request is lost. Only this machine can reach the
    server, unless --host is another address; then requests need a token. The log is on stderr, one JSON
    object a line, without the texts of documents. SIGTERM ends the server after the requests at work.
    """
    try:
        from widemargin.serve.server import run_server
        from widemargin.serve.settings import Settings, named_models, read_token
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "widemargin":
            raise
        raise UsageError(
            f"The service needs {error.name}, which is not installed: pip install 'widemargin[serve]'"
        ) from error
    run_server(
        Settings(
            models=named_models(given.models),
            host=given.host,
            port=given.port,
            token=read_token(given.token_file),
            allowed_hosts=tuple(given.allow_host or ()),
            max_body=given.max_body,
            max_batch=given.max_batch,
            timeout=given.timeout,
            poll=given.poll,
            drain=given.drain,
            threads=given.threads,
            log_requests=not given.quiet,
        )
    )
