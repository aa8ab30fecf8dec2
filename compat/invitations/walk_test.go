package invitations_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
)

// How many steps are walked, and how many of them with the same people.
const (
	few, many = 60, 500
	length    = 24
	// most is how many differences of one step are shown.
	most = 4
)

// kind is a kind of step: how often it is taken, and what it does.
type kind struct {
	weight int
	do     func(*scene, *rand.Rand) string
}

// kinds are all of them. MODEL_WITHOUT and MODEL_ONLY name some, with commas between.
var kinds = map[string]kind{
	"create":        {6, (*scene).create},
	"edit":          {24, (*scene).edit},
	"patch":         {6, (*scene).patchByTool},
	"move":          {5, (*scene).moveByTool},
	"delete":        {4, (*scene).deleteByTool},
	"people":        {4, (*scene).peopleByTool},
	"delete-path":   {1, (*scene).deleteByPath},
	"undo":          {6, (*scene).takeBack},
	"answer-day":    {12, (*scene).answerDay},
	"answer-all":    {10, (*scene).answerAll},
	"take-out":      {5, (*scene).takeOutDay},
	"take-out-rest": {2, (*scene).takeOutRest},
	"leave":         {2, (*scene).leave},
	"rewrite":       {4, (*scene).rewrite},
	"overstep":      {3, (*scene).overstep},
	"mail":          {10, (*scene).mailArrives},
	"reply":         {8, (*scene).answerByMail},
	"reply-arrives": {8, (*scene).replyArrives},
	"oz-creates":    {6, (*scene).ozCreates},
	"oz-edits":      {12, (*scene).ozEdits},
	"oz-cancels":    {1, (*scene).ozCancels},
	"oz-arrives":    {24, (*scene).ozArrives},
}

// step is one, with what its choices come from: without the steps before it, it makes the same choices as far as it
// can.
type step struct {
	kind string
	seed uint64
}

func listed(name string) []string {
	return strings.FieldsFunc(os.Getenv(name), func(r rune) bool { return r == ',' })
}

// plan are the steps of one scene.
func plan(seed uint64, n int) []step {
	r := rand.New(rand.NewPCG(seed, 1))
	without, only := listed("MODEL_WITHOUT"), listed("MODEL_ONLY")
	var bag []string
	for _, name := range sorted(kinds) {
		if !slices.Contains(without, name) && (len(only) == 0 || slices.Contains(only, name)) {
			bag = slices.Concat(bag, slices.Repeat([]string{name}, kinds[name].weight))
		}
	}
	steps := []step{{"create", r.Uint64()}, {"oz-creates", r.Uint64()}}
	for len(steps) < n {
		steps = append(steps, step{pick(r, bag), r.Uint64()})
	}
	return steps
}

// walk takes steps with new people, until the first one at which something differs.
func (s *server) walk(steps []step, overlook []string) (c *scene, taken int, last string) {
	s.Helper()
	c = newScene(s)
	for _, st := range steps {
		s.Pass(time.Minute)
		at := len(c.trace)
		did := kinds[st.kind].do(c, rand.New(rand.NewPCG(st.seed, 2)))
		if did == "" {
			continue
		}
		taken, last = taken+1, st.kind
		s.taken[st.kind]++
		c.trace = slices.Insert(c.trace, at, fmt.Sprintf("%s [%s] %s", s.Now().Format("15:04"), st.kind, did))
		c.compare()
		c.found = slices.DeleteFunc(c.found, func(d difference) bool { return slices.Contains(overlook, d.check) })
		if len(c.found) > 0 {
			return c, taken, last
		}
	}
	return c, taken, last
}

// shrink leaves out steps as long as the last one makes the same kind of difference as before.
func (s *server) shrink(steps []step, what string, overlook []string) []step {
	for size := len(steps) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(steps); {
			less := slices.Delete(slices.Clone(steps), at, at+size)
			if c, _, last := s.walk(less, overlook); len(c.found) > 0 && c.found[0].check+" after "+last == what {
				steps = less
			} else {
				at += size
			}
		}
	}
	return steps
}

// seed is where the choices begin: MODEL_SEED, or the same each time in an ordinary run.
func seed(t *testing.T) uint64 {
	t.Helper()
	text := cmp.Or(os.Getenv("MODEL_SEED"), "20261124")
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("MODEL_SEED=%s: it is a number", text)
	}
	return n
}

// steps is how many steps are walked: MODEL_STEPS says otherwise.
func stepsOf(t *testing.T) int {
	t.Helper()
	n := slowtest.Rounds(t, slowtest.Random, few, many)
	if text := os.Getenv("MODEL_STEPS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("MODEL_STEPS=%s: it is a number", text)
		}
	}
	return n
}

// TestWalkOfInvitations has organizers and guests do what they do, by CalDAV, by MCP and by mail that comes late, twice
// and out of order, and compares after each step what everybody is shown with a model that was written from RFC 5545,
// 5546 and 6638.
func TestWalkOfInvitations(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := newServer(t, url)
		overlook, seen := listed("MODEL_OVERLOOK"), map[string]int{}
		defer func() { t.Logf("steps: %v", s.taken) }()
		for first, left := seed(t), stepsOf(t); left > 0; first++ {
			steps := plan(first, length)
			c, taken, last := s.walk(steps, overlook)
			if left -= max(taken, 1); len(c.found) == 0 {
				continue
			}
			what := c.found[0].check + " after " + last
			if seen[what]++; seen[what] == 1 {
				s.report(t, first, s.shrink(steps, what, overlook), overlook)
			}
		}
		for _, what := range sorted(seen) {
			t.Logf("%d scenes: %s", seen[what], what)
		}
	})
}

// report shows the shortest way to a difference.
func (s *server) report(t *testing.T, seed uint64, steps []step, overlook []string) {
	t.Helper()
	c, _, _ := s.walk(steps, overlook)
	text := fmt.Sprintf("MODEL_SEED=%d, shortened to\n%s", seed, strings.Join(c.trace, "\n"))
	for i, d := range c.found {
		if i == most {
			text += fmt.Sprintf("\nand %d more", len(c.found)-most)
			break
		}
		text += fmt.Sprintf("\nDIFFERS: %s: %s\n  because %s", d.check, d.text, reasons[d.check])
	}
	t.Error(text)
}
