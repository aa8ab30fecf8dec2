package letter

import (
	"bytes"
	_ "embed"
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

// words are what a mail says.
type words struct {
	Subject, Headline string
	// Changes are what became different, where the recipient was told before.
	Changes []change
	view
	// Invited are the names of those who take part, without the organizer.
	Invited string
	// Answer is where the recipient may answer.
	Answer string
	// Over tells that there is nothing to answer any more.
	Over bool
}

// words finds them for an envelope.
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

// before finds what the recipient knows of what the letter is about: unless that was called off, in which case the
// event is new to them.
func (e Envelope) before() (*source, bool) {
	i := slices.IndexFunc(e.Told, func(l calendar.Letter) bool { return l.Recurrence == e.Recurrence })
	if i < 0 || e.Told[i].Method != calendar.MethodRequest {
		return nil, false
	}
	was, err := read(e.Told[i].Data, e.Zone)
	return was, err == nil
}

// said is how a message is put into words.
type said struct{ subject, headline string }

// sentences are those for each method; an update has one of its own.
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

// answers are the sentences for replies, by PARTSTAT.
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

// myStatus is what one of those who take part answered.
func myStatus(v view, who calendar.MailAddress) string {
	for _, p := range v.Attendees {
		if p.Address == string(who) {
			return p.Status
		}
	}
	return ""
}

// invited names those who take part, but for the organizer.
func invited(v view) string {
	var names []string
	for _, p := range v.Attendees {
		if p.Address != v.Organizer.Address {
			names = append(names, p.String())
		}
	}
	return and(bounded(names))
}

// recipient is what the recipient is called in the event.
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

// Summary is what a page says of a letter before it is answered.
type Summary struct {
	Title, When, Repeats, Where, Description string
	Organizer                                Person
	// Status is what the recipient answered as far as the letter knows.
	Status string
	// End is when it is over; zero where it goes on for ever.
	End time.Time
}

// SummaryOf reads a letter for its recipient.
func SummaryOf(l calendar.Letter, local *time.Location) (Summary, error) {
	s, err := read(l.Data, local)
	if err != nil {
		return Summary{}, err
	}
	v := s.view()
	return Summary{v.Title, v.When, v.Repeats, v.Where, v.Description, v.Organizer, myStatus(v, l.To), v.End}, nil
}
