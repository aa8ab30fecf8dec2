# syntax=docker/dockerfile:1

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
ARG TARGETOS TARGETARCH
ARG COMMIT=
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH make build COMMIT="$COMMIT" \
    && mkdir /data

# Roots of trust, zoneinfo and a user without rights, no shell, no package manager.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /src/bin/caldav-mcp-server /usr/local/bin/caldav-mcp-server
# A new volume takes owner and mode of the directory that it covers.
COPY --from=build --chown=65532:65532 --chmod=0700 /data /data
ENV DATA_DIR=/data \
    CALDAV_HOST=0.0.0.0 \
    MCP_HOST=0.0.0.0
VOLUME /data
EXPOSE 5232 5233
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["/usr/local/bin/caldav-mcp-server", "health"]
ENTRYPOINT ["/usr/local/bin/caldav-mcp-server"]
CMD ["serve"]
