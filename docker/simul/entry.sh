#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts the evaluation server, runs the client once the server answers, keeps the scores.
#
#   SRC_FILE, TGT_FILE   what is to be translated (needed)
#   CLIENT_COMMAND       the client, run by the shell with PORT set (needed)
#   PORT                 12321; 0 for any free one
#   OUTPUT               /output: log, text, delay, scores and result.json
#   SCORER_TYPE          text, or speech;  TGT_FILE_TYPE  text or json;  TOKENIZER  13a
#   SERVER_OPTIONS       further options of 'assay simul serve'
#
# The exit status is that of the client; if the client is content, that of scoring.
set -eu

for name in SRC_FILE TGT_FILE CLIENT_COMMAND; do
    if eval "[ -z \"\${$name:-}\" ]"; then
        echo "entry: $name is not set" >&2
        exit 2
    fi
done
OUTPUT=${OUTPUT:-/output}
mkdir -p "$OUTPUT"
place=$(mktemp -d)
server=
client=

stop() {
    for process in $client $server; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    rm -rf "$place"
}
trap stop EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# shellcheck disable=SC2086  # several options are several words
assay simul serve --src-file "$SRC_FILE" --tgt-file "$TGT_FILE" \
    --scorer-type "${SCORER_TYPE:-text}" --tokenizer "${TOKENIZER:-13a}" \
    ${TGT_FILE_TYPE:+--tgt-file-type "$TGT_FILE_TYPE"} \
    --output "$OUTPUT" --hostname 127.0.0.1 --port "${PORT:-12321}" \
    --ready-file "$place/ready" ${SERVER_OPTIONS:-} &
server=$!

while [ ! -s "$place/ready" ]; do
    if ! kill -0 "$server" 2>/dev/null; then
        status=0
        wait "$server" || status=$?
        server=
        echo "entry: the server did not start" >&2
        exit "$status"
    fi
    sleep 0.1
done
PORT=$(sed 's/.*://' "$place/ready")
export PORT

# In the background and waited for, so that a signal is heard while the client runs.
sh -c "$CLIENT_COMMAND" &
client=$!
status=0
wait "$client" || status=$?
client=

scored=0
assay simul run --hostname 127.0.0.1 --port "$PORT" --scores >"$place/result" || scored=$?
if [ "$scored" -eq 0 ]; then
    mv "$place/result" "$OUTPUT/result.json"
    cat "$OUTPUT/result.json"
fi
if [ "$status" -ne 0 ]; then
    exit "$status"
fi
exit "$scored"
