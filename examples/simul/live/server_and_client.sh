#!/bin/sh
# Starts a server on any free port, waits until it answers, runs a client against it, stops it.
set -eu
cd "$(dirname "$0")"
place=$(mktemp -d)
assay simul serve --src-file source.txt --tgt-file target.txt --scorer-type text \
    --output "$place/out" --port 0 --ready-file "$place/address" 2>"$place/server.log" &
server=$!
trap 'kill $server; wait $server; rm -rf "$place"' EXIT
until [ -s "$place/address" ]; do
    kill -0 $server || { cat "$place/server.log"; exit 1; }
    sleep 0.1
done
port=$(sed 's/.*://' "$place/address")
assay simul run --agent-type waitk_text --port "$port" --reset-server --num-threads 4 --scores \
    --waitk 2 --phrase-table phrases.tsv
