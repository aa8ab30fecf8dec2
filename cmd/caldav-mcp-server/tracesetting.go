package main

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// traceConfig names the collector for traces. The settings have OpenTelemetry's names.
type traceConfig struct {
	base, endpoint, service string
	header                  http.Header
	sampler, share          string
}

// traceRows are the settings of traceConfig.
func traceRows() []setting {
	const groups = serveSettings
	return []setting{
		{
			env: "OTEL_EXPORTER_OTLP_ENDPOINT", placeholder: "URL", groups: groups,
			about: "OpenTelemetry collector for traces (OTLP over HTTP, in JSON), such as http://127.0.0.1:4318; /v1/traces is appended",
			set:   setText(func(c *config) *string { return &c.trace.base }, checkCollector),
		},
		{
			env: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", placeholder: "URL", groups: groups,
			about: "the full URL of the collector; nothing is appended", set: setText(func(c *config) *string { return &c.trace.endpoint }, checkCollector),
		},
		{
			env: "OTEL_EXPORTER_OTLP_HEADERS", placeholder: "LIST", groups: groups, secret: true, hidden: true,
			about: "headers for the collector, separated by commas, such as authorization=Bearer%20abc", set: setHeaders,
		},
		{
			env: "OTEL_EXPORTER_OTLP_PROTOCOL", placeholder: "WORD", groups: groups, about: "must be http/json, the only supported protocol",
			set: func(_ *config, value string) error {
				if value != "http/json" {
					return errors.New("is not http/json, the only protocol of this server; collectors accept it on the same port as http/protobuf")
				}
				return nil
			},
		},
		{
			env: "OTEL_SERVICE_NAME", placeholder: "NAME", fallback: console.Program, groups: groups, about: "name of the server in traces",
			set: setText(func(c *config) *string { return &c.trace.service }),
		},
		{
			env: "OTEL_TRACES_SAMPLER", placeholder: "WORD", fallback: "parentbased_always_on", groups: groups,
			about: "which requests are traced: always_on, always_off, traceidratio, or one of these with the prefix parentbased_, to follow a trusted proxy's decision",
			set:   setText(func(c *config) *string { return &c.trace.sampler }),
		},
		{
			env: "OTEL_TRACES_SAMPLER_ARG", placeholder: "SHARE", groups: groups, about: "the share of requests that traceidratio traces, from 0 to 1",
			set: setText(func(c *config) *string { return &c.trace.share }),
		},
	}
}

func checkCollector(value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("is not a URL such as http://127.0.0.1:4318")
	}
	return nil
}

// setHeaders parses a list in the format of W3C Baggage. Its errors do not repeat the values, which are secret.
func setHeaders(c *config, value string) error {
	c.trace.header = http.Header{}
	for pair := range strings.SplitSeq(value, ",") {
		key, text, found := strings.Cut(pair, "=")
		text, err := url.PathUnescape(strings.TrimSpace(text))
		if !found || err != nil || strings.TrimSpace(key) == "" || strings.ContainsAny(key+text, "\r\n") {
			return errors.New("it is not a list such as name=value,other=value")
		}
		c.trace.header.Set(strings.TrimSpace(key), text)
	}
	return nil
}
