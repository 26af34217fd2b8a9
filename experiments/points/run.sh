#!/bin/sh
# What a step costs that is no scheduling point, and what it would have found: see README.md beside this.
#
#     experiments/points/run.sh [REPEATS [EXECS [JOBS]]]
#
# writes results.txt, results.csv and results.html; a minute of one core.
set -eu
cd "$(dirname "$0")"
cargo build --release --quiet -p raddle-cli
exec ../../target/release/raddle compare --with-points sync,visible,all --strategies walk,pos,portfolio \
    --repeats "${1:-10}" --execs "${2:-2000}" --jobs "${3:-1}" \
    --csv results.csv --html results.html programs/*.c >results.txt
