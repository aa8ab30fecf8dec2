// Package views has the HTML pages that hosts show next to results (MCP Apps), and prepares their data.
//
// A page is the same for all users. The data of a result, with texts in the user's language, is in the metadata of the
// result, which models do not get. See docs/decisions/0123-views.md.
package views

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
)

//go:embed *.css *.js
var files embed.FS

// The views.
const (
	Week   = "week"
	Times  = "times"
	Review = "review"
)

// Names lists the views.
var Names = [...]string{Week, Times, Review}

// Key is the name of a view's data in the metadata of a result.
const Key = "caldav-mcp-server/view"

// URI returns the address of a view.
func URI(name string) string { return "ui://caldav-mcp-server/" + name }

// Page returns the HTML of a view: one file whose policy allows only its own style and script.
func Page(name string) string {
	style, script := read("view.css"), read("host.js")+read(name+".js")
	return fmt.Sprintf(page, sum(script), sum(style), style, script)
}

const page = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; ` +
	`base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Calendar</title>
<style>%s</style>
</head>
<body>
<main aria-busy="true"></main>
<script>%s</script>
</body>
</html>
`

func read(name string) string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the files are part of the program, and tests read them
	}
	return string(data)
}

// sum returns the hash of an inline script or style for a policy.
func sum(text string) string {
	hash := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(hash[:])
}

// Maker prepares the data of views for one user.
type Maker struct {
	words *locale.Language
	user  calendar.User
	// zone is the time zone of the shown times.
	zone *time.Location
	now  time.Time
}

// For returns the Maker for a user.
func For(u calendar.User, now time.Time) *Maker {
	return &Maker{words: locale.Match(u.Languages()...), user: u, zone: time.UTC, now: now}
}

// In returns a Maker for times in another zone.
func (m Maker) In(zone *time.Location) Maker {
	m.zone, m.now = zone, m.now.In(zone)
	return m
}

// Text returns a text in the user's language.
func (m Maker) Text(id string, pairs ...any) string { return m.words.Text(id, pairs...) }

// common is in the data of every view.
type common struct {
	Lang string `json:"lang"`
	// Title names the view, Zone its time zone. Words are its labels.
	Title string            `json:"title"`
	Zone  string            `json:"zone,omitempty"`
	Words map[string]string `json:"words"`
}

func (m Maker) common(title string, words ...string) common {
	c := common{Lang: m.words.Tag(), Title: title, Words: map[string]string{}}
	for _, id := range words {
		c.Words[id] = m.Text(id)
	}
	return c
}

// inZone names the zone of the times.
func (m Maker) inZone() string { return m.Text("home.zone", "zone", m.zone.String()) }

// clock formats a time of day.
func (m Maker) clock(t time.Time) string { return m.words.Time(t.In(m.zone), m.user.View.Clock) }

// times formats a time range on the clock; a side on another day has its date.
func (m Maker) times(start, end time.Time) string {
	start, end = start.In(m.zone), end.In(m.zone)
	switch {
	case !end.After(start):
		return m.clock(start)
	case start.Format(time.DateOnly) != end.Add(-1).Format(time.DateOnly):
		return m.words.ShortDate(start) + ", " + m.clock(start) + " – " + m.words.ShortDate(end) + ", " + m.clock(end)
	}
	return m.clock(start) + "–" + m.clock(end)
}
