package remind

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/locale"
)

// note is a notification in words. Its texts come from users.
type note struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	// URL is the page that a click opens, below the address of the server.
	URL string `json:"url"`
	// Tag makes the notification replace an earlier one of the same tag.
	Tag string `json:"tag"`
	// Ref is set for a reminder, which can be put off and dismissed. Snooze and Dismiss are the words for that; "" if
	// the notification has no buttons.
	Ref     *calendar.ReminderReference `json:"ref,omitempty"`
	Snooze  string                      `json:"snooze,omitempty"`
	Dismiss string                      `json:"dismiss,omitempty"`
	// lasts is how long it is worth showing.
	lasts time.Duration
}

const (
	// textMost limits a text of a notification, in characters: push services accept 4096 bytes.
	textMost = 150
	// newsLast is how long a notification other than a reminder waits for a device.
	newsLast = 24 * time.Hour
	// pagesPath is the page that notifications open, unless they are about a day.
	pagesPath = "calendar/"
)

// short returns a user's text as one line of limited length.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > textMost {
		return string(r[:textMost]) + "…"
	}
	return text
}

// tag hides its parts from other programs on the device.
func tag(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// dayPath returns the path of a day in the calendar.
func dayPath(day time.Time) string { return pagesPath + "day/" + day.Format(time.DateOnly) }

// note returns a reminder in words, with its times in the user's zone.
func (f *firing) note(d due) note {
	in, l := f.clock(f.who, d.cal).Location(), f.who.language()
	n := note{
		Title: cmp.Or(short(d.title), l.Text("planner.untitled")), URL: pagesPath, lasts: late,
		Ref: &calendar.ReminderReference{Calendar: d.cal.ID, Object: d.object},
	}
	var parts []string
	if !d.Start.Time.IsZero() {
		n.Ref.Instance = d.RecurrenceID.Time.UTC().Format(time.RFC3339)
		n.URL = dayPath(d.Start.Time.In(in))
		n.Snooze, n.Dismiss = l.Text("remind.snooze", "count", int(snooze/time.Minute)), l.Text("remind.dismiss")
		parts = append(parts, when(l, f.who.caller.User.View.Clock, d.Start, d.End, f.Now(), in))
	}
	if place := short(d.place); place != "" {
		parts = append(parts, place)
	}
	n.Body = strings.Join(parts, " · ")
	n.Tag = tag(string(d.cal.ID), string(d.object), n.Ref.Instance)
	return n
}

// when formats the times of an event, with the day unless it is today.
func when(l *locale.Language, clock string, start, end recur.Moment, now time.Time, in *time.Location) string {
	from, until := start.Time.In(in), end.Time.In(in)
	day := ""
	if from.Format(time.DateOnly) != now.In(in).Format(time.DateOnly) {
		day = l.ShortDate(from)
	}
	switch {
	case start.AllDay:
		return cmp.Or(day, l.Text("time.today"))
	case day != "":
		day += ", "
	}
	if !until.After(from) || until.Sub(from) >= 24*time.Hour {
		return day + l.Time(from, clock)
	}
	return day + l.Time(from, clock) + "–" + l.Time(until, clock)
}

// summary returns one notification in place of many.
func summary(l *locale.Language, all []note) note {
	var titles []string
	for _, n := range all[:min(len(all), atOnce)] {
		titles = append(titles, n.Title)
	}
	text := strings.Join(titles, ", ")
	if more := len(all) - len(titles); more > 0 {
		text += " " + l.Text("mail.more", "count", more)
	}
	return note{
		Title: l.Text("remind.many", "count", len(all)), Body: short(text), URL: pagesPath, Tag: tag("summary"),
		lasts: all[0].lasts,
	}
}

// changesNote describes changes of other users, latest first.
func changesNote(l *locale.Language, cal calendar.Calendar, all []calendar.Change) note {
	who := cmp.Or(all[0].UserName, l.Text("remind.another"))
	n := note{
		Title: short(cal.Name), URL: pagesPath, lasts: newsLast,
		Tag: tag("changes", string(cal.ID), all[0].Version.String()),
	}
	others := map[calendar.UserID]bool{}
	for _, c := range all {
		others[c.User] = true
	}
	switch {
	case len(all) == 1:
		n.Body = l.Text(deeds[all[0].Did], "who", who,
			"title", cmp.Or(short(all[0].Summary), l.Text("planner.untitled")))
	case len(others) == 1:
		n.Body = l.Text("remind.changes", "who", who, "count", len(all))
	default:
		n.Body = l.Text("remind.changes-others", "who", who, "count", len(all))
	}
	return n
}

// deeds are the ids of texts about one change.
var deeds = map[calendar.ChangeKind]string{
	calendar.Created: "remind.created", calendar.Modified: "remind.modified", calendar.Deleted: "remind.deleted",
	calendar.Accepted: "remind.accepted", calendar.Declined: "remind.declined",
}

// alerts returns notifications on a channel.
func (r *Ringer) alerts(who *recipient, channel calendar.Channel, all ...note) calendar.Alerts {
	out, now := calendar.Alerts{Most: r.Most}, r.Now()
	for _, n := range all {
		switch channel {
		case calendar.BrowserChannel:
			out.Messages = append(out.Messages, r.message(n, now))
		case calendar.MailChannel:
			if l, ok := r.letter(who, n, now); ok {
				out.Letters = append(out.Letters, l)
			}
		case calendar.NoChannel:
		}
	}
	return out
}

func (r *Ringer) message(n note, now time.Time) calendar.BrowserMessage {
	return calendar.BrowserMessage{
		ID: calendar.BrowserMessageID(r.NewID()), Due: now, Expires: now.Add(n.lasts), Body: n.encode(),
	}
}

func (n note) encode() []byte {
	body, err := json.Marshal(n)
	if err != nil {
		panic(fmt.Sprintf("encoding a notification: %v", err)) // texts alone: JSON can encode all of them
	}
	return body
}

// letter returns a mail to the user's main address; false if there is none, or no mail is sent.
func (r *Ringer) letter(who *recipient, n note, now time.Time) (calendar.Letter, bool) {
	to := calendar.MailAddress(strings.ToLower(who.caller.User.Email))
	if !r.Mailed || to == "" {
		return calendar.Letter{}, false
	}
	id := r.NewID()
	m := calendar.AlertMail{Subject: n.Title, Text: n.Title + "\n" + n.Body + "\n"}
	if n.Ref != nil {
		m.Subject = who.language().Text("remind.subject", "title", n.Title)
		m.Until = now.Add(n.lasts)
	}
	if r.Pages != "" && strings.HasPrefix(n.URL, suggestionsPath) {
		m.Text += "\n" + who.language().Text("digest.decide") + ":\n" + r.Pages +
			strings.TrimPrefix(n.URL, "account/") + "\n"
	}
	if r.Pages != "" {
		m.Text += "\n" + who.language().Text("remind.settings") + " " + r.Pages + "notifications\n"
	}
	return calendar.Letter{
		ID: calendar.LetterID(id), User: who.User, From: to, To: to, Method: calendar.MethodAlert,
		UID: calendar.UID("alert-" + id), Posted: now, Due: now, Data: m.Encode(),
	}, true
}

// scheduleAddress returns a calendar user address.
func scheduleAddress(text string) schedule.Address { return schedule.AddressOf(text) }
