package letter

import (
	"bytes"
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"slices"
	"strings"
	"text/template"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
)

var (
	//go:embed template/letter.txt
	plainText string
	//go:embed template/letter.html
	htmlText string

	plainTemplate = template.Must(template.New("letter").Parse(plainText))
	htmlTemplate  = htmltemplate.Must(htmltemplate.New("letter").Parse(htmlText))
)

// words are the texts of a mail.
type words struct {
	Subject, Headline string
	// Changes are the differences from the recipient's last mail.
	Changes []change
	view
	// Invited are the names of the attendees, without the organizer.
	Invited string
	// Answer is the link to answer.
	Answer string
	// Over is set if the recipient can no longer answer.
	Over bool
}

// words returns the texts for an envelope.
func (e Envelope) words(now *source) words {
	v := now.view()
	w := words{view: v, Invited: invited(v)}
	title := v.Title
	if title == "" {
		title = "an event without a title"
	}
	who := e.Sender
	if who == "" {
		who = string(e.From)
	}
	was, told := e.before()
	s := sentence(e.Method, now, told)
	if said, ok := answers[myStatus(v, e.From)]; ok && e.Method == calendar.MethodReply {
		s = said
	}
	w.Subject = s.subject + ": " + title
	if v.Instance && v.Day != "" {
		w.Subject += " (" + v.Day + ")"
	}
	w.Headline = who + " " + s.headline
	if told && e.Method == calendar.MethodRequest {
		w.Changes = changes(was.view(), v)
	}
	w.Over = e.Method == calendar.MethodCancel
	if e.Method == calendar.MethodRequest {
		w.Answer = e.Answer
	}
	return w
}

// before returns the recipient's last mail about the same event or instance. If that was a cancellation, the event is
// new to them.
func (e Envelope) before() (*source, bool) {
	i := slices.IndexFunc(e.Told, func(l calendar.Letter) bool { return l.Recurrence == e.Recurrence })
	if i < 0 || e.Told[i].Method != calendar.MethodRequest {
		return nil, false
	}
	was, err := read(e.Told[i].Data, e.Zone)
	return was, err == nil
}

// said is the subject and the headline of a message.
type said struct{ subject, headline string }

// sentences are the texts for each method; an update has its own.
var sentences = map[calendar.Method]said{
	calendar.MethodRequest: {"Invitation", "invites you to an event."},
	calendar.MethodCancel:  {"No longer invited", "no longer needs you at this event."},
	calendar.MethodReply:   {"Answered", "has answered your invitation."},
	calendar.MethodAdd:     {"Invitation", "invites you to one more time of an event."},
	calendar.MethodRefresh: {"Question", "asks for the latest version of an event."},
	calendar.MethodCounter: {"Proposal", "proposes another time for your event."},
	calendar.MethodDecline: {"Proposal declined", "stays with the time of the event."},
}

var (
	updated   = said{"Updated", "changed an event that you are invited to."}
	calledOff = said{"Cancelled", "called off this event."}
)

// answers are the texts for replies, by PARTSTAT.
var answers = map[string]said{
	"ACCEPTED":  {"Accepted", "has accepted your invitation."},
	"DECLINED":  {"Declined", "has declined your invitation."},
	"TENTATIVE": {"Tentative", "may come: the answer to your invitation is tentative."},
	"DELEGATED": {"Delegated", "has passed your invitation on to somebody else."},
}

func sentence(m calendar.Method, now *source, told bool) said {
	switch {
	case m == calendar.MethodRequest && told:
		return updated
	case m == calendar.MethodCancel && content.WordOf(now.main(), "STATUS") == "CANCELLED":
		return calledOff
	}
	if s, ok := sentences[m]; ok {
		return s
	}
	return said{"Event", "writes to you about an event."}
}

// myStatus returns an attendee's answer.
func myStatus(v view, who calendar.MailAddress) string {
	for _, p := range v.Attendees {
		if p.Address == string(who) {
			return p.Status
		}
	}
	return ""
}

// invited lists the attendees, without the organizer.
func invited(v view) string {
	var names []string
	for _, p := range v.Attendees {
		if p.Address != v.Organizer.Address {
			names = append(names, p.String())
		}
	}
	if v.Others > 0 {
		names = append(names, fmt.Sprintf("%d others", v.Others))
	}
	return and(bounded(names))
}

// recipient returns the recipient's name in the event.
func (w words) recipient(to calendar.MailAddress) string {
	for _, p := range append([]Person{w.Organizer}, w.Attendees...) {
		if p.Address == string(to) {
			return p.Name
		}
	}
	return ""
}

func (w words) render() (plain, html string, err error) {
	var text, page bytes.Buffer
	if err := plainTemplate.Execute(&text, w); err != nil {
		return "", "", err
	}
	err = htmlTemplate.Execute(&page, w)
	return strings.TrimSpace(text.String()) + "\n", page.String(), err
}

// Summary describes a letter on the page for answering it.
type Summary struct {
	Title, When, Repeats, Where, Description string
	Organizer                                Person
	// Status is the recipient's answer as of the letter.
	Status string
	// End is when the event is over; zero if it never ends.
	End time.Time
}

// SummaryOf parses a letter for its recipient.
func SummaryOf(l calendar.Letter, local *time.Location) (Summary, error) {
	s, err := read(l.Data, local)
	if err != nil {
		return Summary{}, err
	}
	v := s.view()
	return Summary{v.Title, v.When, v.Repeats, v.Where, v.Description, v.Organizer, myStatus(v, l.To), v.End}, nil
}

// AnswerIn returns the present answer of a letter's recipient from the organizer's event; "" if it has none.
func AnswerIn(event []byte, l calendar.Letter) string {
	s, err := read(event, nil)
	if err != nil {
		return "" // the event is gone, or nothing that people are invited to
	}
	c := s.main()
	for _, o := range s.series.Overrides {
		if l.Recurrence != "" && o.Property("RECURRENCE-ID").Value() == l.Recurrence {
			c = o
		}
	}
	return myStatus(view{Attendees: attendees(c)}, l.To)
}
