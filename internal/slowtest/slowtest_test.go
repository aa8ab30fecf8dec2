package slowtest_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/internal/slowtest"
)

// spy is a test that keeps what is said to it.
type spy struct {
	testing.TB
	skipped, failed bool
}

func (s *spy) Helper() {}

func (s *spy) Skipf(string, ...any) {
	s.skipped = true
	runtime.Goexit()
}

func (s *spy) Fatalf(string, ...any) {
	s.failed = true
	runtime.Goexit()
}

// ran tells what becomes of a test that is of the part "crash".
func ran(use func(*spy)) string {
	s := &spy{}
	done := make(chan bool)
	finished := false
	go func() {
		defer close(done)
		use(s)
		finished = true
	}()
	<-done
	switch {
	case s.skipped:
		return "skipped"
	case s.failed:
		return "failed"
	case finished:
		return "ran"
	}
	return "lost"
}

func TestParts(t *testing.T) {
	for value, want := range map[string]struct {
		outcome string
		rounds  int
	}{
		"":             {"skipped", 3},
		"all":          {"ran", 20},
		"crash":        {"ran", 20},
		"flood,crash":  {"ran", 20},
		"flood,random": {"skipped", 3},
		"crush":        {"failed", 0},
		"crash, flood": {"failed", 0},
		"1":            {"failed", 0},
	} {
		t.Run(strings.ReplaceAll(value, ",", "+"), func(t *testing.T) {
			t.Setenv("TORTURE", value)
			if got := ran(func(s *spy) { slowtest.Skip(s, slowtest.Crash, "kills") }); got != want.outcome {
				t.Errorf("Skip: the test %s, want %s", got, want.outcome)
			}
			rounds := 0
			ran(func(s *spy) { rounds = slowtest.Rounds(s, slowtest.Crash, 3, 20) })
			if rounds != want.rounds {
				t.Errorf("Rounds: %d, want %d", rounds, want.rounds)
			}
		})
	}
}

// TestShare: a share of the rounds is run, but never fewer than in an ordinary run.
func TestShare(t *testing.T) {
	t.Setenv("TORTURE", "all")
	for value, want := range map[string]int{"": 20, "1": 20, "3": 6, "10": 3} {
		t.Setenv("TORTURE_SHARE", value)
		if got := slowtest.Rounds(t, slowtest.Crash, 3, 20); got != want {
			t.Errorf("%q: %d rounds, want %d", value, got, want)
		}
	}
	t.Setenv("TORTURE_SHARE", "0")
	if got := ran(func(s *spy) { slowtest.Share(s) }); got != "failed" {
		t.Errorf("a share of 0: the test %s", got)
	}
}

func TestForAndSeed(t *testing.T) {
	t.Setenv("TORTURE_FOR", "30m")
	t.Setenv("TORTURE_SEED", "7")
	if d, seed := slowtest.For(t, 0), slowtest.Seed(t); d != 30*time.Minute || seed != 7 {
		t.Errorf("it goes on for %v, from %d", d, seed)
	}
	for _, wrong := range []string{"30", "-1m", "long"} {
		t.Setenv("TORTURE_FOR", wrong)
		if got := ran(func(s *spy) { slowtest.For(s, 0) }); got != "failed" {
			t.Errorf("TORTURE_FOR=%s: the test %s", wrong, got)
		}
	}
	t.Setenv("TORTURE_FOR", "")
	if d := slowtest.For(t, time.Minute); d != time.Minute {
		t.Errorf("usually it goes on for %v", d)
	}
	t.Setenv("TORTURE_SEED", "seven")
	if got := ran(func(s *spy) { slowtest.Seed(s) }); got != "failed" {
		t.Errorf("TORTURE_SEED=seven: the test %s", got)
	}
}
