package server

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// ToolMeter counts tool calls for the metrics. Its labels are names of tools and outcomes, both from fixed lists and
// not from client input.
type ToolMeter struct {
	mu      sync.Mutex
	calls   map[toolOutcome]uint64
	seconds map[string]*histogram
}

type toolOutcome struct{ tool, outcome string }

// NewToolMeter makes an empty ToolMeter.
func NewToolMeter() *ToolMeter {
	return &ToolMeter{calls: make(map[toolOutcome]uint64), seconds: make(map[string]*histogram)}
}

// Called counts a call.
func (m *ToolMeter) Called(tool, outcome string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[toolOutcome{tool, outcome}]++
	observe(m.seconds, tool, took)
}

func (m *ToolMeter) write(w io.Writer) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	const calls = "caldav_mcp_tool_calls_total"
	family(w, calls, "counter", "Tool calls by outcome.")
	for _, k := range slices.SortedFunc(maps.Keys(m.calls), compareToolOutcomes) {
		sample(w, calls, float64(m.calls[k]), "tool", k.tool, "outcome", k.outcome)
	}
	writeHistograms(w, "caldav_mcp_tool_duration_seconds", "Time that calls of tools took.", "tool", m.seconds)
}

func compareToolOutcomes(a, b toolOutcome) int {
	return cmp.Or(cmp.Compare(a.tool, b.tool), cmp.Compare(a.outcome, b.outcome))
}
