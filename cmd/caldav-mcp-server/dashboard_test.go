package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/store"
)

// dashboard is what of Grafana's form is looked at.
type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
	Templating struct{ List []struct{ Query string } }
}

// queries are all that the dashboard asks Prometheus.
func (d dashboard) queries() (all []string) {
	for _, v := range d.Templating.List {
		all = append(all, v.Query)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	return all
}

// expression is the expression of an alert or a recording rule, on one line or several.
var expression = regexp.MustCompile(`(?m)^ +expr: (\|\n(?: {10}.*\n)+|.*)`)

// A server exposes every metric on the dashboard and in the rules of the alerts, with the labels used there. Every
// metric of ours is on the dashboard and on the monitoring page.
func TestDashboard(t *testing.T) {
	t.Parallel()
	var d dashboard
	if err := json.Unmarshal([]byte(readDoc(t, "packaging", "grafana.json")), &d); err != nil {
		t.Fatal(err)
	}
	families, samples := metricsAtWork(t)
	for _, m := range secondMeasures(standbyCounts()) {
		families[m.Name] = m.Kind
	}
	asked := map[string]bool{}
	word := regexp.MustCompile(`\b(caldav_mcp|go|process)_[a-z_]+\b`)
	grouped := regexp.MustCompile(`by \(([a-z, ]+)\)`)
	rules := expression.FindAllString(readDoc(t, "packaging", "alerts.yml"), -1)
	if len(rules) < 10 {
		t.Errorf("there are only %d rules with expressions", len(rules))
	}
	for _, query := range append(d.queries(), rules...) {
		for _, name := range word.FindAllString(query, -1) {
			family := name
			for _, part := range []string{"_bucket", "_count"} {
				if families[strings.TrimSuffix(name, part)] == "histogram" {
					family = strings.TrimSuffix(name, part)
				}
			}
			asked[family] = true
			if families[family] == "" {
				t.Errorf("no server tells %s, which is asked for in %s", name, query)
			}
			labels := ""
			if by := grouped.FindStringSubmatch(query); by != nil {
				labels = by[1]
			}
			for label := range strings.SplitSeq(labels, ", ") {
				// Prometheus adds the label instance.
				if label != "" && label != "instance" && !strings.Contains(samples[name], label+`="`) {
					t.Errorf("%s has no label %s, by which it is asked for in %s", name, label, query)
				}
			}
		}
	}
	doc := readDoc(t, "docs", "monitoring.md")
	for family := range families {
		if !strings.HasPrefix(family, "caldav_mcp_") {
			continue
		}
		if !asked[family] {
			t.Errorf("the dashboard does not show %s", family)
		}
		short := regexp.MustCompile(`_(in_use|in_work|max|[a-z]+_total)$`).FindString(family)
		if !strings.Contains(doc, "`"+family+"`") && (short == "" || !strings.Contains(doc, "`…"+short+"`")) {
			t.Errorf("docs/monitoring.md does not list %s", family)
		}
	}
}

// standbyCounts are the counters of a store with a standby, which the server of this test lacks.
func standbyCounts() map[store.ReplicaOutcome]int64 {
	counts := map[store.ReplicaOutcome]int64{}
	for _, how := range store.ReplicaOutcomes() {
		counts[how] = 1
	}
	return counts
}

// metricsAtWork are the metrics of a server that has served both protocols: the families with their types, and a line
// of each name.
func metricsAtWork(t *testing.T) (families, samples map[string]string) {
	t.Helper()
	r := serve(t, append(on(sqlite(t)), "METRICS_ADDR=127.0.0.1:0"))
	c := firstClient(t, r)
	c.sync(t, "")
	c.call(t, "list_calendars", struct{}{})
	wrong := c
	wrong.pass = "wrong password"
	wrong.must(t, http.StatusUnauthorized, "PROPFIND", personal, "", "Depth", "0")
	page, err := c.send(t.Context(), http.MethodGet, "http://"+r.addrs[metricsDoor]+"/metrics", "")
	if err != nil {
		t.Fatal(err)
	}
	families, samples = map[string]string{}, map[string]string{}
	for line := range strings.Lines(page.body) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(strings.TrimSpace(rest), " ")
			families[name] = kind
		} else if name, _, _ := strings.Cut(line, "{"); name != line {
			samples[name] = line
		}
	}
	if !strings.Contains(page.body, `caldav_mcp_report_duration_seconds_count{report="sync-collection"} 1`) {
		t.Errorf("a report is not counted:\n%s", page.body)
	}
	return families, samples
}
