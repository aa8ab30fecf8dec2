// Package ruletest generates random recurrence rules for tests that compare the expansion with other engines.
package ruletest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"caldav-mcp-server/ical"
)

// Case is a rule and its start.
type Case struct {
	Rule  string
	Start ical.Civil
}

// String names the case in the output of a test.
func (c Case) String() string {
	return "DTSTART:" + ical.Floating(c.Start).String() + " RRULE:" + c.Rule
}

// Generator generates cases, always the same ones for the same seed.
type Generator struct{ random *rand.Rand }

// New returns a generator.
func New(seed uint64) *Generator {
	return &Generator{random: rand.New(rand.NewPCG(seed, seed))}
}

// Next returns a rule that RFC 5545 allows. Parts that are rare in practice are rare here, but none is left out.
func (g *Generator) Next() Case {
	freq := ical.Frequency(1 + g.random.IntN(int(ical.Yearly)))
	parts := []string{"FREQ=" + freq.String()}
	if g.random.IntN(2) == 0 {
		parts = append(parts, fmt.Sprint("INTERVAL=", 1+g.random.IntN(13)))
	}
	by := g.days(freq)
	by = append(by, g.times()...)
	if len(by) > 0 && g.random.IntN(5) == 0 {
		by = append(by, "BYSETPOS="+g.numbers(2, -4, 4))
	}
	if g.random.IntN(4) == 0 {
		by = append(by, "WKST="+g.weekday())
	}
	start := ical.CivilFromDays(ical.CivilDate(1980+g.random.IntN(60), time.January, 1).Days() + g.random.IntN(366))
	start.Hour, start.Minute, start.Second = g.random.IntN(24), g.random.IntN(60), g.random.IntN(60)
	return Case{Rule: strings.Join(append(parts, by...), ";"), Start: start}
}

// days generates the parts about days that RFC 5545 §3.3.10 allows in a rule of this frequency.
func (g *Generator) days(freq ical.Frequency) []string {
	var parts []string
	add := func(allowed bool, odds int, part func() string) {
		if allowed && g.random.IntN(odds) == 0 {
			parts = append(parts, part())
		}
	}
	weeks := false
	add(true, 3, func() string { return "BYMONTH=" + g.numbers(4, 1, 12) })
	add(freq == ical.Yearly, 5, func() string { weeks = true; return "BYWEEKNO=" + g.numbers(4, -53, 53) })
	add(freq == ical.Yearly || freq < ical.Daily, 6, func() string { return "BYYEARDAY=" + g.numbers(20, -366, 366) })
	add(freq != ical.Weekly, 4, func() string { return "BYMONTHDAY=" + g.numbers(6, -31, 31) })
	add(true, 3, func() string { return "BYDAY=" + g.weekdays(freq, weeks) })
	return parts
}

func (g *Generator) times() []string {
	var parts []string
	for _, part := range []struct {
		name string
		most int
	}{{"BYHOUR", 23}, {"BYMINUTE", 59}, {"BYSECOND", 59}} {
		if g.random.IntN(6) == 0 {
			parts = append(parts, part.name+"="+g.numbers(4, 0, part.most))
		}
	}
	return parts
}

// numbers generates a list. If negative values are allowed, zero is not.
func (g *Generator) numbers(count, least, most int) string {
	var list []string
	for range 1 + g.random.IntN(count) {
		n := least + g.random.IntN(most-least+1)
		if least < 0 && n == 0 {
			n = 1
		}
		list = append(list, fmt.Sprint(n))
	}
	return strings.Join(list, ",")
}

func (g *Generator) weekdays(freq ical.Frequency, weeks bool) string {
	var list []string
	for range 1 + g.random.IntN(3) {
		day := g.weekday()
		switch {
		case g.random.IntN(2) == 0 || weeks:
		case freq == ical.Monthly:
			day = g.numbers(1, -5, 5) + day
		case freq == ical.Yearly:
			day = g.numbers(1, -20, 20) + day
		}
		list = append(list, day)
	}
	return strings.Join(list, ",")
}

func (g *Generator) weekday() string {
	return ical.WeekdayNum{Weekday: time.Weekday(g.random.IntN(7))}.String()
}
