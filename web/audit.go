package web

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// AuditEvent is a line of the audit log; it has the fields of server.AuditEvent.
type AuditEvent struct {
	At           time.Time
	ID           string
	Door         string
	Client, User string
	// Token is the id of the access token.
	Token     string
	Did, Whom string
	// Calendar is the id of the calendar whose access changed; Detail is the right, or has numbers.
	Calendar, Detail string
	Outcome          string
	Status           int
	// Change is the first change in the journal, Changes the number of changes if there are several.
	Change  string
	Changes int64
}

// AuditReader reads the audit log before a position, the latest event first, and returns the position for the next
// read.
type AuditReader func(before int64, most int, match func(AuditEvent) bool) ([]AuditEvent, int64, error)

// auditPage is the number of events on a page.
const auditPage = 50

// auditContent is the data of the page of the audit log, for administrators.
type auditContent struct {
	// On is set if the audit log is a file.
	On     bool
	Events []auditRow
	// User, What and Outcome are the filter; Names are the users to choose from.
	User, What, Outcome string
	Names               []calendar.User
	// Earlier is the address of the next page; "" if there is none.
	Earlier string
}

// auditRow is an event with its time for people. Known is set if the user exists.
type auditRow struct {
	AuditEvent
	When  string
	Known bool
}

func (p userPages) audit() (c auditContent, err error) {
	query := p.r.URL.Query()
	c.User, c.What = strings.TrimSpace(query.Get("user")), strings.TrimSpace(query.Get("what"))
	c.Outcome, c.On = query.Get("outcome"), p.Audit != nil
	if c.Names, err = p.Auth.UserNames(p.r.Context()); err != nil || !c.On {
		return c, err
	}
	before, _ := strconv.ParseInt(query.Get("before"), 10, 64) // without a number, the end
	found, next, err := p.Audit(before, auditPage, c.match)
	if err != nil {
		return c, err
	}
	known := map[string]bool{}
	for _, u := range c.Names {
		known[u.Name] = true
	}
	clock := p.clock()
	for _, e := range found {
		row := auditRow{AuditEvent: e, When: clock.Moment(e.At), Known: known[e.User]}
		row.User, row.Did, row.Whom = excerpt(e.User), excerpt(e.Did), excerpt(e.Whom)
		row.Detail, row.Calendar = excerpt(e.Detail), excerpt(e.Calendar)
		c.Events = append(c.Events, row)
	}
	if next > 0 {
		c.Earlier = "audit?" + url.Values{
			"user": {c.User}, "what": {c.What}, "outcome": {c.Outcome}, "before": {strconv.FormatInt(next, 10)},
		}.Encode()
	}
	return c, nil
}

// match reports whether an event is by or about the user, contains the words, and has the outcome of the filter.
func (c auditContent) match(e AuditEvent) bool {
	about := strings.EqualFold(e.User, c.User)
	for name := range strings.FieldsSeq(e.Whom) {
		about = about || strings.EqualFold(name, c.User)
	}
	return (c.User == "" || about) && (c.Outcome == "" || e.Outcome == c.Outcome) &&
		strings.Contains(strings.ToLower(e.Did+" "+e.Door), strings.ToLower(c.What))
}
