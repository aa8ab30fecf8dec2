// Package slowtest keeps what takes long out of an ordinary test run.
//
// A test that kills servers, floods them, or tries thousands of random inputs says so here, in one
// line. `make test` then runs it with few rounds or not at all; `make torture` runs all of it. The
// environment variable TORTURE names the parts that a run wants, as in TORTURE=crash,random, or
// TORTURE=all. One that goes on as long as it is given asks for TORTURE_FOR; one whose order is random, for TORTURE_SEED.
package slowtest

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// env names the variable with the parts that a run wants.
const env = "TORTURE"

// Part is one kind of slow test.
type Part string

// The parts.
const (
	Crash  Part = "crash"  // kills processes at work, again and again
	Flood  Part = "flood"  // puts a server under load for seconds, and measures
	Random Part = "random" // tries many random inputs, where an ordinary run tries a few
	Big    Part = "big"    // fills databases, calendars and bodies with many megabytes
)

func parts() []Part { return []Part{Crash, Flood, Random, Big} }

// Skip skips a test that is too slow for an ordinary run, and says why.
func Skip(t testing.TB, part Part, why string) {
	t.Helper()
	if !wanted(t, part) {
		t.Skipf("it %s: `make torture` runs it, or %s=%s", why, env, part)
	}
}

// Rounds is how often a test does its work: a few times, or many times where the run wants its part.
func Rounds(t testing.TB, part Part, few, many int) int {
	t.Helper()
	if wanted(t, part) {
		return many
	}
	return few
}

// wanted tells whether the run wants a part. A word that is no part fails the test: nobody must
// believe that something was run.
func wanted(t testing.TB, part Part) bool {
	t.Helper()
	value := os.Getenv(env)
	if value == "" {
		return false
	}
	words := strings.Split(value, ",")
	for _, word := range words {
		if word != "all" && !slices.Contains(parts(), Part(word)) {
			t.Fatalf("%s=%s: there is no %q; it is all, or some of %v with commas between", env, value, word, parts())
		}
	}
	return slices.Contains(words, "all") || slices.Contains(words, string(part))
}

// For is how long a test goes on that takes as long as it is given: the variable TORTURE_FOR says so, as in 30m.
func For(t testing.TB, usual time.Duration) time.Duration {
	t.Helper()
	value := os.Getenv(env + "_FOR")
	if value == "" {
		return usual
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		t.Fatalf("%s_FOR=%s: it is a time such as 30m", env, value)
	}
	return d
}

// Seed is where the randomness of a test begins, another each time unless TORTURE_SEED says which. A test that fails shows it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64N(1 << 32)
	if value := os.Getenv(env + "_SEED"); value != "" {
		given, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			t.Fatalf("%s_SEED=%s: it is a number", env, value)
		}
		seed = given
	}
	t.Logf("the same again: %s_SEED=%d", env, seed)
	return seed
}
