# hearsay as a container: the program and the libraries it needs, nothing to compile with.
#
#   docker build -t hearsay .
#   docker run --rm hearsay demo
#   docker run -v ./my-folder:/etc/hearsay:ro -p 3128:3128 hearsay    # has hearsay.json
#
# The folder is mounted, not the file: most editors, and `sed -i`, put another file in its place, which a mount of the file does
# not follow, so that a reload (docker kill -s HUP) sees nothing of it, and says so.
#
# It writes to /var/cache/hearsay if the configuration says so (cache.disk; give it a volume there), else nowhere, and needs no privilege: --read-only --cap-drop ALL --security-opt no-new-privileges.

# All but the program; tests/compose/run adds one that is built already.
FROM debian:bookworm-slim AS runtime
# Certificates: for https origins.
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates libc-ares2 libcrypt1 libfmt9 libjemalloc2 libnghttp2-14 libspdlog1.10 libssl3 libstdc++6 libsystemd0 libxxhash0 zlib1g \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old /var/log/* \
    && useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin hearsay \
    && install -d -o 10001 -g 10001 -m 0750 /var/cache/hearsay
# A number, so that Kubernetes can tell that it is not root.
USER 10001:10001
# Proxy, links between peers, admin; which ones are used is for the configuration to say.
EXPOSE 3128 3129 9128
# Asks the admin port where the configuration has it, with its token.
HEALTHCHECK --interval=5s --timeout=4s --start-period=5s --retries=3 CMD ["hearsay", "healthcheck", "--config", "/etc/hearsay/hearsay.json"]
ENTRYPOINT ["hearsay"]
CMD ["run", "--config", "/etc/hearsay/hearsay.json"]

FROM debian:bookworm-slim AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        clang-16 lld-16 llvm-16 cmake ninja-build pkg-config \
        libboost1.81-dev libc-ares-dev libcli11-dev libcrypt-dev libfmt-dev libjemalloc-dev libnghttp2-dev libspdlog-dev libssl-dev \
        libsystemd-dev libxxhash-dev nlohmann-json3-dev zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# What is in the context is said by .dockerignore.
COPY . .
# As many compilers as there are processors and memory for, about 1 GB each; or --build-arg JOBS=1.
ARG JOBS=
RUN cmake --preset release \
    && jobs=$(awk -v n="$(nproc)" '/^MemAvailable:/ { m = int($2 / 1000000); print m < 1 ? 1 : m < n ? m : n }' /proc/meminfo) \
    && cmake --build --preset release --target hearsay -j "${JOBS:-$jobs}" \
    && strip build/release/hearsay

FROM runtime
COPY --from=build /src/build/release/hearsay /usr/local/bin/hearsay
