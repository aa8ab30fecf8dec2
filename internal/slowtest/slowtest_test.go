package slowtest_test

import (
	"runtime"
	"strings"
	"testing"

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
