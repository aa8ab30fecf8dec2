// Package recurrence_test compares our expansion of rules with that of ical.js,
// the library behind Thunderbird and Nextcloud's calendar.
//
//	cd compat/recurrence && npm ci && COMPAT_RECUR=1 go test .
package recurrence_test

import (
	"bufio"
	ordered "cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/calendar/recur/rule/ruletest"
	"caldav-mcp-server/ical"
)

const (
	compared = 20_000
	moments  = 30
	// Comparing stops here: ical.js walks from the start, year by year.
	end = "2150"
	// ical.js searches for ever when it cannot find anything.
	patience = 10 * time.Second
)

func TestAgainstICALJS(t *testing.T) {
	t.Parallel()
	if os.Getenv("COMPAT_RECUR") == "" {
		t.Skip("needs node and `npm ci` in compat/recurrence; set COMPAT_RECUR=1")
	}
	theirs := startJudge(t)
	generator := ruletest.New(2)
	excluded := make(map[string]int)
	for n := 0; n < compared; {
		c := generator.Next()
		r, err := ical.ParseRecur(c.Rule)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if why := whyExcluded(&r); why != "" {
			excluded[why]++
			continue
		}
		ours := expand(t, c, &r)
		if len(ours) < 2 {
			excluded["it comes less than twice before "+end]++
			continue
		}
		n++
		if diff := cmp.Diff(theirs.expand(t, c, sorted(r).String(), ours[0], len(ours)), ours); diff != "" {
			t.Errorf("%v (-ical.js +ours)\n%s", c, diff)
		}
	}
	for why, n := range excluded {
		t.Logf("%d rules left out: %s", n, why)
	}
}

func expand(t *testing.T, c ruletest.Case, r *ical.Recur) []string {
	t.Helper()
	compiled, err := rule.New(r, ical.Floating(c.Start))
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	cursor, err := compiled.Seek(rule.NewMeter(context.Background(), 3_000_000), rule.WallOf(c.Start), rule.Forever)
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	var list []string
	for range moments {
		wall, ok, err := cursor.Next()
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if !ok {
			break
		}
		list = append(list, wall.Civil().String())
	}
	return slices.DeleteFunc(list, func(s string) bool { return s >= end || s == c.Start.String() })
}

// sorted puts the lists of a rule in order. ical.js expands them as they stand.
func sorted(r ical.Recur) ical.Recur {
	for _, list := range []*[]int{&r.BySecond, &r.ByMinute, &r.ByHour, &r.ByMonthDay, &r.ByYearDay, &r.ByWeekNo, &r.ByMonth, &r.BySetPos} {
		*list = slices.Sorted(slices.Values(*list))
	}
	r.ByDay = slices.SortedFunc(slices.Values(r.ByDay), func(a, b ical.WeekdayNum) int {
		return ordered.Compare((a.Weekday-r.WeekStart+7)%7, (b.Weekday-r.WeekStart+7)%7)
	})
	return r
}

// judge is a process that expands rules.
type judge struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func startJudge(t *testing.T) *judge {
	t.Helper()
	j := &judge{}
	j.start(t)
	t.Cleanup(j.stop)
	return j
}

func (j *judge) start(t *testing.T) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "node", "expand.mjs")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	j.command, j.in, j.out = command, in, bufio.NewReader(out)
}

func (j *judge) stop() {
	_ = j.in.Close()
	_ = j.command.Process.Kill() // it may be on its way out already
	_ = j.command.Wait()
}

// expand asks for some moments of a rule. A judge that does not answer is
// replaced, and its answer is that.
func (j *judge) expand(t *testing.T, c ruletest.Case, rule string, first string, count int) []string {
	t.Helper()
	question, err := json.Marshal(map[string]any{"rule": rule, "start": c.Start.String(), "count": count + 6})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.in.Write(append(question, '\n')); err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	watchdog := time.AfterFunc(patience, func() { _ = j.command.Process.Kill() })
	answer, err := j.out.ReadBytes('\n')
	watchdog.Stop()
	if err != nil {
		j.stop()
		j.start(t)
		return []string{fmt.Sprintf("ical.js does not return: %v", err)}
	}
	var times []string
	if json.Unmarshal(answer, &times) == nil {
		// ical.js begins some rules with DTSTART, or with a moment of its month or
		// week that the rule does not name.
		times = slices.DeleteFunc(times, func(s string) bool { return s == c.Start.String() || s < first })
		return times[:min(count, len(times))]
	}
	return []string{string(answer)}
}
