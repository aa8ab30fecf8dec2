package settings

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// Trace names the collector for traces. The settings have OpenTelemetry's names.
type Trace struct {
	Base, Endpoint, Service string
	Header                  http.Header
	Sampler, Share          string
}

// traceRows are the settings of Trace.
func traceRows() []Setting {
	const groups = ServeGroup
	return []Setting{
		{
			Env: "OTEL_EXPORTER_OTLP_ENDPOINT", Placeholder: "URL", Groups: groups,
			About: "OpenTelemetry collector for traces (OTLP over HTTP, in JSON), such as http://127.0.0.1:4318; " +
				"/v1/traces is appended",
			Set: setText(func(c *Config) *string { return &c.Trace.Base }, checkCollector),
		},
		{
			Env: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", Placeholder: "URL", Groups: groups,
			About: "the full URL of the collector; nothing is appended",
			Set:   setText(func(c *Config) *string { return &c.Trace.Endpoint }, checkCollector),
		},
		{
			Env: "OTEL_EXPORTER_OTLP_HEADERS", Placeholder: "LIST", Groups: groups, secret: true, Hidden: true,
			About: "headers for the collector, separated by commas, such as authorization=Bearer%20abc",
			Set:   setHeaders,
		},
		{
			Env: "OTEL_EXPORTER_OTLP_PROTOCOL", Placeholder: "WORD", Groups: groups,
			About: "must be http/json, the only supported protocol",
			Set: func(_ *Config, value string) error {
				if value != "http/json" {
					return errors.New("is not http/json, the only protocol of this server; collectors accept it on " +
						"the same port as http/protobuf")
				}
				return nil
			},
		},
		{
			Env: "OTEL_SERVICE_NAME", Placeholder: "NAME", Fallback: console.Program, Groups: groups,
			About: "name of the server in traces",
			Set:   setText(func(c *Config) *string { return &c.Trace.Service }),
		},
		{
			Env: "OTEL_TRACES_SAMPLER", Placeholder: "WORD", Fallback: "parentbased_always_on", Groups: groups,
			About: "which requests are traced: always_on, always_off, traceidratio, or one of these with the prefix " +
				"parentbased_, to follow a trusted proxy's decision",
			Set: setText(func(c *Config) *string { return &c.Trace.Sampler }),
		},
		{
			Env: "OTEL_TRACES_SAMPLER_ARG", Placeholder: "SHARE", Groups: groups,
			About: "the share of requests that traceidratio traces, from 0 to 1",
			Set:   setText(func(c *Config) *string { return &c.Trace.Share }),
		},
	}
}

func checkCollector(value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return errors.New("is not a URL such as http://127.0.0.1:4318")
	}
	return nil
}

// setHeaders parses a list in the format of W3C Baggage. Its errors do not repeat the values, which are secret.
func setHeaders(c *Config, value string) error {
	c.Trace.Header = http.Header{}
	for pair := range strings.SplitSeq(value, ",") {
		key, text, found := strings.Cut(pair, "=")
		text, err := url.PathUnescape(strings.TrimSpace(text))
		if !found || err != nil || strings.TrimSpace(key) == "" || strings.ContainsAny(key+text, "\r\n") {
			return errors.New("it is not a list such as name=value,other=value")
		}
		c.Trace.Header.Set(strings.TrimSpace(key), text)
	}
	return nil
}
