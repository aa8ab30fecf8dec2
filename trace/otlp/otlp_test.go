package otlp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/trace"
	"caldav-mcp-server/trace/otlp"
)

func batch() []trace.Ended {
	return []trace.Ended{
		{
			Trace: [16]byte{1, 15: 2}, ID: [8]byte{3}, Parent: [8]byte{4}, Name: "GET /", Kind: trace.Server,
			Began: time.Unix(7, 8), Took: time.Second,
			Attributes: []trace.Attribute{
				{Name: "http.route", Text: "/"}, {Name: "http.response.status_code", Number: 200},
			},
		},
		{Trace: [16]byte{1, 15: 2}, ID: [8]byte{
			5,
		}, Name: "transaction", Kind: trace.Client, Began: time.Unix(7, 9), Failed: true},
	}
}

// What is sent is the message of opentelemetry-proto v1 as its JSON has it: every name, ids as hexadecimal digits,
// 64-bit numbers as texts.
func TestMessage(t *testing.T) {
	t.Parallel()
	var got any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" ||
			r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "Bearer abc" {
			t.Errorf("the request is %s %s with %v", r.Method, r.URL.Path, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(`{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}`))
	}))
	defer s.Close()
	e := otlp.Exporter{
		Endpoint: s.URL + "/v1/traces", Header: http.Header{"Authorization": {"Bearer abc"}}, Service: "cal",
		Version: "1", Instance: "i",
	}
	if refused, err := e.Send(t.Context(), batch()); refused != 1 || err != nil {
		t.Errorf("refused %d, %v", refused, err)
	}
	var want any
	if err := json.Unmarshal([]byte(`{"resourceSpans":[{
		"resource":{"attributes":[
			{"key":"service.name","value":{"stringValue":"cal"}},{"key":"service.version","value":{"stringValue":"1"}},
			{"key":"service.instance.id","value":{"stringValue":"i"}}]},
		"scopeSpans":[{"scope":{"name":"caldav-mcp-server","version":"1"},"spans":[
			{"traceId":"01000000000000000000000000000002","spanId":"0300000000000000","parentSpanId":"0400000000000000",
			 "name":"GET /","kind":2,
			 "startTimeUnixNano":"7000000008","endTimeUnixNano":"8000000008","attributes":[
				{"key":"http.route","value":{"stringValue":"/"}},
				{"key":"http.response.status_code","value":{"intValue":"200"}}]},
			{"traceId":"01000000000000000000000000000002","spanId":"0500000000000000","name":"transaction","kind":3,
			 "startTimeUnixNano":"7000000009","endTimeUnixNano":"7000000009","status":{"code":2}}]}]}]}`),
		&want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the message is another (-want +got):\n%s", diff)
	}
}

func TestCollectorsThatDoNot(t *testing.T) {
	t.Parallel()
	for answer, fails := range map[int]bool{
		http.StatusOK: false, http.StatusAccepted: false, http.StatusBadRequest: true,
		http.StatusServiceUnavailable: true, http.StatusTemporaryRedirect: true,
	} {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(answer)
		}))
		_, err := otlp.Exporter{Endpoint: s.URL}.Send(t.Context(), batch())
		s.Close()
		if (err != nil) != fails || asked != 1 {
			t.Errorf("%d: %v, asked %d times", answer, err, asked)
		}
	}
}
