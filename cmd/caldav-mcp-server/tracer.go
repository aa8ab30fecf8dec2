package main

import (
	"fmt"
	"log/slog"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/trace"
	"caldav-mcp-server/trace/otlp"
)

// newTracer returns the tracer of requests and tasks; nil if no collector is set.
func (p *program) newTracer(c settings.Config, log *slog.Logger) (*trace.Tracer, error) {
	t := c.Trace
	sampler, err := trace.ParseSampler(t.Sampler, t.Share)
	if err != nil {
		return nil, console.UsageError{
			Err: fmt.Errorf("OTEL_TRACES_SAMPLER or OTEL_TRACES_SAMPLER_ARG is malformed: %w",
				err),
		}
	}
	if t.Endpoint == "" && t.Base != "" {
		t.Endpoint = strings.TrimRight(t.Base, "/") + "/v1/traces"
	}
	if t.Endpoint == "" {
		return nil, nil // a nil tracer accepts every call
	}
	collector := otlp.Exporter{
		Endpoint: t.Endpoint, Header: t.Header, Service: t.Service, Version: p.Version, Instance: p.NewID(),
	}
	return trace.New(trace.Config{Sampler: sampler, Send: collector.Send, Now: p.Now, Logger: log}), nil
}
