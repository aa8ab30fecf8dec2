package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// warningsView holds effects of a change that a user may not expect.
type warningsView struct {
	Warnings []string `json:"warnings,omitempty" doc:"Tell the user."`
}

// warnings are the unexpected effects of a new rule on a whole series.
func (b eventTools) warnings(ctx context.Context, c *call, s subject, f edit.Fields) (v warningsView) {
	rule, given := f.Rule.Value()
	if !given || rule == "" || !s.found.Object.Recurring || s.scope != edit.All {
		return v
	}
	whole, err := b.service.InstanceOf(ctx, c.meter, s.cal, s.found.Object, ical.Time{})
	if err != nil || whole.Start.Time.IsZero() {
		return v
	}
	if whole.Start.Time.Before(b.now()) {
		v.Warnings = append(v.Warnings, "the rule also applies to past instances; to keep those, change it with scope "+
			"following and the recurrence_id of the next instance instead")
	}
	start := whole.Start.Civil()
	days := strings.Split(ruleParts(rule)["BYDAY"], ",")
	if word := strings.ToUpper(start.Weekday().String()[:2]); days[0] != "" && !slices.Contains(days, word) &&
		ruleParts(rule)["FREQ"] == "WEEKLY" {
		v.Warnings = append(v.Warnings, fmt.Sprintf("the first instance stays on %s %s, a weekday that the rule leaves "+
			"out", start.Weekday(), start.Date().String()[:len(time.DateOnly)]))
	}
	return v
}

// leapDays warns of a yearly series on 29 February.
func leapDays(c *ical.Component) (v warningsView) {
	rule, start := c.Property("RRULE"), c.Property("DTSTART")
	if rule == nil || start == nil {
		return v
	}
	at, err := start.Time()
	parts := ruleParts(rule.Value())
	if err == nil && parts["FREQ"] == "YEARLY" && parts["BYDAY"] == "" && parts["BYMONTHDAY"] == "" &&
		at.Civil.Month == time.February && at.Civil.Day == 29 {
		v.Warnings = []string{"29 February is only in leap years: the event is every four years; for every year, use " +
			"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1, the last day of February"}
	}
	return v
}

// ruleParts are the parts of a recurrence rule by name.
func ruleParts(rule string) map[string]string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.ToUpper(rule), ";") {
		name, value, _ := strings.Cut(part, "=")
		parts[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return parts
}

// checkLoss refuses a description that is only the beginning of the stored one, as results show it. The model may have
// removed the mark for the omitted text.
func checkLoss(f edit.Fields, stored *ical.Component) error {
	text, given := f.Description.Value()
	if !given || text == "" {
		return nil
	}
	onLine := func(s string) []rune { return []rune(strings.Join(strings.Fields(s), " ")) }
	raw := []rune(content.TextOf(stored, "DESCRIPTION"))
	was, now := onLine(string(raw)), onLine(text)
	same := 0
	for same < min(len(was), len(now)) && was[same] == now[same] {
		same++
	}
	const near, slack = 5, 100
	lost := len(was)-len(now) > slack && len(now) > slack && 10*len(now) <= len(was) && 10*same >= 9*len(now)
	for _, limit := range [...]int{longestListedText, len(onLine(string(raw[:min(len(raw), maxShown)])))} {
		lost = lost || len(was) > limit+slack && len(now) < len(was) && same >= limit-near && same <= limit+near
	}
	if !lost {
		return nil
	}
	return errArgument(`"description" is only the beginning of the stored one, which has %d characters: a result left `+
		`out the rest, which this would delete`, len(raw)).
		Advising("read the full text in ical_data of get_event and give all of it; if the user wants it shorter, " +
			"empty the description first")
}
