# Raddle with gcc and gdb: docker build -t raddle . && docker run --rm -v "$PWD:/src" -w /src raddle run bank.c
FROM rust:1.95-bookworm AS build
COPY . /raddle
RUN cargo install --locked --path /raddle/crates/cli --root /usr/local

FROM rust:1.95-slim-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends g++ gdb libc6-dev make && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/raddle /usr/local/bin/cargo-raddle /usr/local/bin/raddle-cc /usr/local/bin/raddle-cxx /usr/local/bin/
ENTRYPOINT ["raddle"]
