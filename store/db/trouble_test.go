package db

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// The log says why the database failed, once in a while and not for each request.
func TestTroubleIsTold(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	now := time.Unix(1_700_000_000, 0)
	e := &Engine{
		fault: func(err error) fault {
			return map[string]fault{"full": faultFull, "cut": faultCut, "taken": faultTaken}[err.Error()]
		},
		faultLog: &faultLog{log: slog.New(slog.NewTextHandler(&log, nil)), now: func() time.Time { return now }},
	}
	told := func(what string) string {
		log.Reset()
		_ = e.Translate(t.Context(), errors.New(what))
		return log.String()
	}
	if got := told("full"); !strings.Contains(got, "level=ERROR") ||
		!strings.Contains(got, "the disk of the database is full") || !strings.Contains(got, "err=full") {
		t.Errorf("a full disk is told as %q", got)
	}
	if got := told("full") + told("full"); got != "" {
		t.Errorf("the same is told again at once: %q", got)
	}
	if got := told("cut"); !strings.Contains(got, "level=WARN") {
		t.Errorf("another fault is told as %q", got)
	}
	if got := told("taken"); got != "" {
		t.Errorf("the fault of a request is told: %q", got)
	}
	now = now.Add(faultLogEvery)
	if got := told("full"); !strings.Contains(got, "untold=2") {
		t.Errorf("what lasts is told as %q", got)
	}
}
