// Package slowtest excludes slow work from an ordinary test run.
//
// A test that kills servers, floods them, or tries thousands of random inputs calls one function here. `make test` then
// runs it with few rounds or not at all; `make torture` runs all of it. The environment variable TORTURE names the
// parts to run, as in TORTURE=crash,random, or TORTURE=all. TORTURE_FOR sets the duration of open-ended tests, and
// TORTURE_SEED the seed of random ones. TORTURE_SHARE=3 does a third of the work.
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

// env is the variable that names the parts to run.
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

// Skip skips a test that is too slow for an ordinary run, and logs why.
func Skip(t testing.TB, part Part, why string) {
	t.Helper()
	if !wanted(t, part) {
		t.Skipf("it %s: `make torture` runs it, or %s=%s", why, env, part)
	}
}

// Rounds returns the number of rounds of a test: few, or a share of many if its part is selected.
func Rounds(t testing.TB, part Part, few, many int) int {
	t.Helper()
	if wanted(t, part) {
		return max(few, many/Share(t))
	}
	return few
}

// Share returns the number of shares into which long work is divided, one of which a run does. It is 1 unless the
// variable TORTURE_SHARE says otherwise. A run that has less time draws its share at random.
func Share(t testing.TB) int {
	t.Helper()
	value := os.Getenv(env + "_SHARE")
	if value == "" {
		return 1
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		t.Fatalf("%s_SHARE=%s: it is a number from 1 on", env, value)
	}
	return n
}

// wanted reports whether a part is selected. An unknown name fails the test, so that a typing error cannot pass for a
// successful run.
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

// For returns the duration of an open-ended test, from the variable TORTURE_FOR, as in 30m.
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

// Seed returns the seed of a random test, a new one each time unless TORTURE_SEED is set. A failing test logs it.
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
