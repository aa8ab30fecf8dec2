package googletest

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"
)

// fill adds the fields that Google sets in each event, and removes default values.
func (c *Calendar) fill(e Event) {
	if e["status"] == "cancelled" {
		return
	}
	whose := map[string]any{"email": c.ID, "self": true}
	for name, value := range map[string]any{
		"status": "confirmed", "reminders": map[string]any{"useDefault": true}, "sequence": 0, "eventType": "default",
		"creator": whose, "organizer": whose, "htmlLink": "https://www.google.com/calendar/event?eid=1",
	} {
		if e[name] == nil {
			e[name] = value
		}
	}
	for name, usual := range map[string]any{"transparency": "opaque", "visibility": "default"} {
		if e[name] == usual {
			delete(e, name)
		}
	}
	for _, name := range []string{"start", "end", "originalStartTime"} {
		if side, ok := e[name].(map[string]any); ok {
			e[name] = c.local(side)
		}
	}
	if list, ok := e["attendees"].([]any); ok {
		e["attendees"] = c.invited(list, e["organizer"])
	}
	if rules, ok := e["recurrence"].([]any); ok {
		kept := make([]any, len(rules))
		for i, rule := range rules {
			// Google writes rules in its own words.
			kept[i] = strings.ReplaceAll(fmt.Sprint(rule), ";INTERVAL=1;", ";")
		}
		e["recurrence"] = kept
	}
}

// local returns a time in its zone. A time without a zone gets the calendar's.
func (c *Calendar) local(side map[string]any) map[string]any {
	text, timed := side["dateTime"].(string)
	if !timed {
		return side
	}
	side = maps.Clone(side)
	if side["timeZone"] == nil {
		side["timeZone"] = c.Zone
	}
	at, err := time.Parse(time.RFC3339, text)
	z, unknown := time.LoadLocation(fmt.Sprint(side["timeZone"]))
	if err == nil && unknown == nil {
		side["dateTime"] = at.In(z).Format(time.RFC3339)
	}
	return side
}

// invited gives attendees an answer, and marks the calendar's owner and the organizer.
func (c *Calendar) invited(list []any, organizer any) []any {
	host, _ := organizer.(map[string]any)
	full := make([]any, 0, len(list))
	for _, one := range list {
		a := map[string]any{"responseStatus": "needsAction"}
		sent, _ := one.(map[string]any)
		maps.Copy(a, sent)
		if a["email"] == c.ID {
			a["self"] = true
		}
		if a["email"] == host["email"] {
			a["organizer"] = true
		}
		full = append(full, a)
	}
	return full
}

// bounded enforces the documented limits of extended properties and reminders.
func bounded(e Event) error {
	x, _ := e["extendedProperties"].(map[string]any)
	for _, side := range []string{"private", "shared"} {
		properties, _ := x[side].(map[string]any)
		for name, value := range properties {
			if text, _ := value.(string); len(name) > 44 || len([]rune(text)) > 1024 {
				return no(http.StatusBadRequest, "invalid", "The extended property "+name+" is too long.")
			}
		}
	}
	reminders, _ := e["reminders"].(map[string]any)
	list, _ := reminders["overrides"].([]any)
	if len(list) > 5 || len(list) > 0 && reminders["useDefault"] == true {
		return no(http.StatusBadRequest, "invalid", "Too many reminders, or the default ones as well.")
	}
	for _, one := range list {
		r, _ := one.(map[string]any)
		if minutes, _ := r["minutes"].(float64); minutes < 0 || minutes > 40_320 {
			return no(http.StatusBadRequest, "invalid", "The minutes of a reminder are not between 0 and 40320.")
		}
	}
	return nil
}

// sequenced rejects a sequence number below the present one.
func sequenced(now, next Event) error {
	before, after := number(now["sequence"]), number(next["sequence"])
	if after < before {
		return no(http.StatusBadRequest, "invalid",
			"Invalid sequence value. The specified sequence number is below the current one of the resource.")
	}
	return nil
}

func number(value any) float64 {
	switch n := value.(type) {
	case float64:
		return n
	case int:
		return float64(n)
	}
	return 0
}

// rescheduled reports whether a change of an event makes Google count its sequence on.
func rescheduled(now, next Event) bool {
	for _, name := range []string{"start", "end", "recurrence"} {
		if fmt.Sprint(now[name]) != fmt.Sprint(next[name]) {
			return true
		}
	}
	return false
}
