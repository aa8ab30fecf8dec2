package main

import (
	"fmt"
	"log/slog"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/trace"
	"caldav-mcp-server/trace/otlp"
)

// newTracer returns the tracer of requests and tasks; nil if no collector is set.
func (p *program) newTracer(c config, log *slog.Logger) (*trace.Tracer, error) {
	t := c.trace
	sampler, err := trace.ParseSampler(t.sampler, t.share)
	if err != nil {
		return nil, console.UsageError{Err: fmt.Errorf("OTEL_TRACES_SAMPLER or OTEL_TRACES_SAMPLER_ARG is malformed: %w", err)}
	}
	if t.endpoint == "" && t.base != "" {
		t.endpoint = strings.TrimRight(t.base, "/") + "/v1/traces"
	}
	if t.endpoint == "" {
		return nil, nil //nolint:nilnil // a nil tracer accepts every call
	}
	collector := otlp.Exporter{Endpoint: t.endpoint, Header: t.header, Service: t.service, Version: p.Version, Instance: p.NewID()}
	return trace.New(trace.Config{Sampler: sampler, Send: collector.Send, Now: p.Now, Logger: log}), nil
}
