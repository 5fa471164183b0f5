#!/bin/sh
# The steps of the Dockerfile, which runs them one by one. They also work on a machine without Docker:
#
#   docker/build.sh wheel DIR           compile the sources and write a wheel to DIR
#   docker/build.sh install DIR VENV    install the wheel in DIR, with the extra serve, in a new environment
#   docker/build.sh check VENV          train a small model, serve it, ask for a label, and stop the server
#   docker/build.sh healthy URL         ask a server whether it is alive (the HEALTHCHECK of the image)
#   docker/build.sh all DIR VENV        wheel, install and check
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
python=${PYTHON:-python3}

wheel() {
    mkdir -p "$1"
    "$python" -m pip wheel --quiet --no-deps --wheel-dir "$1" ${PIP_OPTIONS:-} "$here"
}

install() {
    "$python" -m venv ${VENV_OPTIONS:-} "$2"
    set -- "$1"/widemargin-*.whl "$2"
    "$2/bin/python" -m pip install --quiet ${PIP_OPTIONS:-} "$1[serve]"
}

check() {
    python=$1/bin/python
    work=$(mktemp -d)
    server=
    # The server is stopped however this ends.
    trap 'test -z "$server" || kill "$server" 2>/dev/null || :; rm -rf "$work"' EXIT
    for i in 1 2 3 4 5 6; do
        echo "{\"text\": \"invoice refund payment $i\", \"labels\": [\"billing\"]}"
        echo "{\"text\": \"printer screen battery $i\", \"labels\": [\"hardware\"]}"
    done > "$work/tickets.jsonl"
    "$python" -m widemargin train "$work/tickets.jsonl" -o "$work/tickets.wm" --tune none --quiet >/dev/null
    "$python" -m widemargin serve "$work/tickets.wm" --port 0 --drain 0 2> "$work/log" &
    server=$!
    url=
    for _ in $(seq 300); do
        url=$(sed -n 's/.*"event":"listening","url":"\([^"]*\)".*/\1/p' "$work/log")
        test -z "$url" || break
        sleep 0.1
    done
    healthy "$url"
    "$python" - "$url" <<'PYTHON'
import json, sys, urllib.request

body = json.dumps({"text": "a refund for my invoice"}).encode()
request = urllib.request.Request(f"{sys.argv[1]}v1/predict", body, {"Content-Type": "application/json"})
(document,) = json.load(urllib.request.urlopen(request, timeout=10))["documents"]
assert document["labels"] == ["billing"], document
PYTHON
    kill "$server"
    wait "$server"
    server=
    echo "The service answers."
}

healthy() {
    "$python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1] + "healthz", timeout=3)' "$1"
}

step=${1:?wheel, install, check, healthy or all}
shift
case $step in
    wheel | install | check | healthy) "$step" "$@" ;;
    all)
        wheel "$1"
        install "$1" "$2"
        check "$2"
        ;;
    *)
        echo "docker/build.sh: there is no step $step" >&2
        exit 2
        ;;
esac
