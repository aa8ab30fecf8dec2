// Package otlp sends spans to an OpenTelemetry collector: OTLP over HTTP, in the JSON encoding. The official libraries
// would add 5 MB, including protobuf and gRPC.
package otlp

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"

	"caldav-mcp-server/trace"
)

// The OTLP message (opentelemetry-proto, trace/v1) in JSON: ids in hexadecimal, 64-bit numbers as strings.
type (
	message struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource struct {
			Attributes []keyValue `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	scopeSpans struct {
		Scope struct {
			Name    string `json:"name"`
			Version string `json:"version,omitempty"`
		} `json:"scope"`
		Spans []wireSpan `json:"spans"`
	}
	wireSpan struct {
		TraceID      string     `json:"traceId"`
		SpanID       string     `json:"spanId"`
		ParentSpanID string     `json:"parentSpanId,omitempty"`
		Name         string     `json:"name"`
		Kind         trace.Kind `json:"kind"`
		Start        string     `json:"startTimeUnixNano"`
		End          string     `json:"endTimeUnixNano"`
		Attributes   []keyValue `json:"attributes,omitempty"`
		Status       *status    `json:"status,omitempty"`
	}
	status struct {
		Code int `json:"code"`
	}
	keyValue struct {
		Key   string   `json:"key"`
		Value anyValue `json:"value"`
	}
	anyValue struct {
		Text   *string `json:"stringValue,omitempty"`
		Number string  `json:"intValue,omitempty"`
	}
)

// Exporter sends spans to a collector.
type Exporter struct {
	// Endpoint is the address for spans; Header is sent with each request.
	Endpoint string
	Header   http.Header
	// Service and Version identify the program, Instance this process.
	Service, Version, Instance string
}

// client follows no redirect: the header may contain a secret.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// failed is STATUS_CODE_ERROR.
const failed = 2

func text(key, value string) keyValue { return keyValue{key, anyValue{Text: &value}} }

// wire converts a span to its JSON form.
func wire(s trace.Ended) wireSpan {
	w := wireSpan{
		TraceID: hex.EncodeToString(s.Trace[:]), SpanID: hex.EncodeToString(s.ID[:]), Name: s.Name, Kind: s.Kind,
		Start: strconv.FormatInt(s.Began.UnixNano(), 10), End: strconv.FormatInt(s.Began.Add(s.Took).UnixNano(), 10),
	}
	if s.Parent != [8]byte{} {
		w.ParentSpanID = hex.EncodeToString(s.Parent[:])
	}
	for _, a := range s.Attributes {
		if a.Text != "" {
			w.Attributes = append(w.Attributes, text(a.Name, a.Text))
		} else {
			w.Attributes = append(w.Attributes, keyValue{a.Name, anyValue{Number: strconv.FormatInt(a.Number, 10)}})
		}
	}
	if s.Failed {
		w.Status = &status{failed}
	}
	return w
}

// answerMost limits the size of a collector's response.
const answerMost = 64 << 10

// Send sends a batch and returns how many of its spans the collector rejected.
func (e Exporter) Send(ctx context.Context, batch []trace.Ended) (refused int, err error) {
	body, err := json.Marshal(e.message(batch))
	if err != nil {
		return 0, fmt.Errorf("writing JSON: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	maps.Copy(r.Header, e.Header)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "caldav-mcp-server/"+e.Version)
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	raw, err := io.ReadAll(io.LimitReader(answer.Body, answerMost))
	if err != nil {
		return 0, fmt.Errorf("reading the answer: %w", err)
	}
	if answer.StatusCode/100 != 2 {
		return 0, fmt.Errorf("it answers %s", answer.Status)
	}
	return min(refusedOf(raw), len(batch)), nil
}

func (e Exporter) message(batch []trace.Ended) message {
	var all resourceSpans
	all.Resource.Attributes = []keyValue{
		text("service.name", e.Service), text("service.version", e.Version), text("service.instance.id", e.Instance),
	}
	var scope scopeSpans
	scope.Scope.Name, scope.Scope.Version = "caldav-mcp-server", e.Version
	for _, s := range batch {
		scope.Spans = append(scope.Spans, wire(s))
	}
	all.ScopeSpans = []scopeSpans{scope}
	return message{[]resourceSpans{all}}
}

// refusedOf returns the number of rejected spans of a partial success. In JSON it may be a string.
func refusedOf(answer []byte) int {
	var said struct {
		PartialSuccess struct {
			RejectedSpans json.RawMessage `json:"rejectedSpans"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &said) != nil {
		return 0
	}
	n, err := strconv.Atoi(string(bytes.Trim(said.PartialSuccess.RejectedSpans, `"`)))
	if err != nil {
		return 0
	}
	return max(n, 0)
}
