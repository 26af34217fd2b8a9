#!/bin/sh
# The experiments of the dissertation's chapter 6, over programs of our own: see README.md beside this.
#
#     experiments/total-replay/run.sh [FLAGS]
#
# writes results.txt: for each program its executions under total replay and source-set DPOR, and what
# reachability testing and TPAIR would need. Takes a minute.
set -eu
cd "$(dirname "$0")"
flags=${1:--O0}
root=../..
cargo build --release --quiet -p raddle-cli
raddle=$root/target/release/raddle
store=$(mktemp -d)
trap 'rm -rf "$store"' EXIT

for program in programs/*.c; do
    echo "== $program $flags"
    "$raddle" total "$program" --cflags "$flags" --store "$store" --execs 2000 --progress none 2>&1 |
        grep -E '^(search|error)' || true
    "$raddle" run --strategy dpor --points all "$program" --cflags "$flags" --store "$store" --execs 2000 \
        --detect race -k --progress none 2>&1 | grep -E '^search' | sed 's/^/   /' || true
done >results.txt
cat results.txt
