#!/bin/sh
# Seed paper 4's comparison over our own programs of its kinds: see README.md beside this.
#
#     experiments/stride/run.sh [REPEATS [EXECS [JOBS]]]
#
# writes results.csv, results.html and results.txt. With 5 repeats and 10,000 executions it takes about an
# hour of one core: the campaigns that find nothing take all of it.
set -eu
cd "$(dirname "$0")"
repeats=${1:-5}
execs=${2:-10000}
jobs=${3:-1}
cargo build --release --quiet -p raddle-cli
raddle=../../target/release/raddle

strategies=walk,stride:smax=2,stride:one,stride:two,pct:d=paper,pct
strategies=$strategies,rpro:d=paper,r=10,rpro:d=paper,r=50,pos,surw,urw,delay,rstest,sites,portfolio

exec "$raddle" compare --strategies "$strategies" --repeats "$repeats" --execs "$execs" --jobs "$jobs" \
    --csv results.csv --html results.html programs/*.c >results.txt
