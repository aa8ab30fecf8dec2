package server

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// metricsHandler serves the counters in Prometheus' text format, version 0.0.4. It refuses DNS rebinding.
func (s *Server) metricsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		var page bytes.Buffer
		s.metrics.write(&page)
		s.config.Tools.write(&page)
		if s.config.Measures != nil {
			for _, m := range s.config.Measures() {
				family(&page, m.Name, m.Kind, m.Help)
				sample(&page, m.Name, m.Value)
			}
		}
		writeProcess(&page, s.metrics.started)
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(page.Bytes())
	})
	return s.ownHost(mux)
}

// Measure is a value that another package counts or measures: its Prometheus name, "counter" or "gauge", and a help
// text.
type Measure struct {
	Name, Kind, Help string
	Value            float64
}

// family writes the help and type lines of a metric.
func family(w io.Writer, name, kind, help string) {
	_, _ = fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes one value. Labels are pairs of name and value.
func sample(w io.Writer, name string, value float64, labels ...string) {
	var set strings.Builder
	for i := 0; i+1 < len(labels); i += 2 {
		fmt.Fprintf(&set, ",%s=%s", labels[i], escape(labels[i+1]))
	}
	if set.Len() > 0 {
		name += "{" + set.String()[1:] + "}"
	}
	_, _ = fmt.Fprintf(w, "%s %s\n", name, strconv.FormatFloat(value, 'g', -1, 64))
}

// escape quotes a label's value. The format escapes only backslash, quote and line feed.
func escape(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

func (m *counters) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	family(w, "caldav_mcp_build_info", "gauge", "The running program; always 1.")
	sample(w, "caldav_mcp_build_info", 1, "version", m.version, "goversion", runtime.Version())
	m.writeRequests(w)
	m.writeDurations(w)
	writeHistograms(w, "caldav_mcp_report_duration_seconds", "Time that reports took, by their kind.", "report",
		m.reports)
	family(w, "caldav_mcp_requests_in_flight", "gauge", "Requests being answered at this moment.")
	for _, door := range slices.Sorted(maps.Keys(m.inFlight)) {
		sample(w, "caldav_mcp_requests_in_flight", float64(m.inFlight[door]), "door", door)
	}
	family(w, "caldav_mcp_auth_failures_total", "counter", "Requests whose credentials were refused or throttled.")
	for _, door := range slices.Sorted(maps.Keys(m.authFailures)) {
		sample(w, "caldav_mcp_auth_failures_total", float64(m.authFailures[door]), "door", door)
	}
	family(w, "caldav_mcp_panics_total", "counter", "Handlers that panicked; each is a fault of the program.")
	sample(w, "caldav_mcp_panics_total", float64(m.panics))
}

func (m *counters) writeRequests(w io.Writer) {
	family(w, "caldav_mcp_requests_total", "counter", "Requests answered.")
	keys := slices.SortedFunc(maps.Keys(m.requests), func(a, b outcome) int {
		return cmp.Or(compareSeries(a.series, b.series), cmp.Compare(a.status, b.status))
	})
	for _, k := range keys {
		sample(w, "caldav_mcp_requests_total", float64(m.requests[k]),
			append(k.labels(), "status", strconv.Itoa(k.status))...)
	}
}

func (m *counters) writeDurations(w io.Writer) {
	const name = "caldav_mcp_request_duration_seconds"
	family(w, name, "histogram", "Time from a request's head to the end of its answer.")
	for _, k := range slices.SortedFunc(maps.Keys(m.durations), compareSeries) {
		m.durations[k].write(w, name, k.labels()...)
	}
}

// writeHistograms writes a family of histograms that differ in one label.
func writeHistograms(w io.Writer, name, help, label string, all map[string]*histogram) {
	family(w, name, "histogram", help)
	for _, value := range slices.Sorted(maps.Keys(all)) {
		all[value].write(w, name, label, value)
	}
}

func (h *histogram) write(w io.Writer, name string, labels ...string) {
	upTo := uint64(0)
	for i, bound := range buckets() {
		upTo += h.counts[i]
		sample(w, name+"_bucket", float64(upTo),
			append(slices.Clone(labels), "le", strconv.FormatFloat(bound, 'g', -1, 64))...)
	}
	sample(w, name+"_bucket", float64(h.total), append(slices.Clone(labels), "le", "+Inf")...)
	sample(w, name+"_sum", h.sum, labels...)
	sample(w, name+"_count", float64(h.total), labels...)
}

func (k series) labels() []string {
	return []string{"door", k.door, "route", k.route, "method", k.method}
}

func compareSeries(a, b series) int {
	return cmp.Or(cmp.Compare(a.door, b.door), cmp.Compare(a.route, b.route), cmp.Compare(a.method, b.method))
}
