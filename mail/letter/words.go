package letter

import (
	"bytes"
	"cmp"
	_ "embed"
	htmltemplate "html/template"
	"slices"
	"strings"
	"text/template"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/locale"
)

var (
	//go:embed templates/letter.txt
	plainText string
	//go:embed templates/letter.html
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
	// Agreed is set if the recipient has accepted already.
	Agreed bool
	// Over is set if the recipient can no longer answer.
	Over bool
	lang *locale.Language
}

// T returns a text of the mail's language.
func (w words) T(id string, pairs ...any) string { return w.lang.Text(id, pairs...) }

// Lang returns the tag of the language.
func (w words) Lang() string { return w.lang.Tag() }

// words returns the texts for an envelope.
func (e Envelope) words(now *source) words {
	v, l := now.view(), now.lang
	w := words{view: v, Invited: invited(l, v), lang: l}
	title := cmp.Or(v.Title, l.Text("mail.untitled"))
	who := e.Sender
	if who == "" {
		who = string(e.From)
	}
	was, told := e.before()
	w.Agreed = e.Method == calendar.MethodRequest && myStatus(v, e.To) == "ACCEPTED"
	s := sentence(e.Method, now, told)
	if w.Agreed && !told {
		s = "booked"
	}
	if said, ok := answers[myStatus(v, e.From)]; ok && e.Method == calendar.MethodReply {
		s = said
	}
	w.Subject = l.Text("mail.subject."+s, "title", title)
	if v.Instance && v.Day != "" {
		w.Subject += " (" + v.Day + ")"
	}
	w.Headline = l.Text("mail.headline."+s, "who", who)
	if told && e.Method == calendar.MethodRequest {
		w.Changes = changes(l, was.view(), v)
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
	was, err := read(e.Told[i].Data, e.Zone, e.Language)
	return was, err == nil
}

// sentences are the ends of the ids of the subject and the headline for each method.
var sentences = map[calendar.Method]string{
	calendar.MethodRequest: "request", calendar.MethodCancel: "removed", calendar.MethodReply: "reply",
	calendar.MethodAdd: "add", calendar.MethodRefresh: "refresh", calendar.MethodCounter: "counter",
	calendar.MethodDecline: "kept",
}

// answers are the same for replies, by PARTSTAT.
var answers = map[string]string{
	"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "tentative", "DELEGATED": "delegated",
}

func sentence(m calendar.Method, now *source, told bool) string {
	switch {
	case m == calendar.MethodRequest && told:
		return "updated"
	case m == calendar.MethodCancel && content.WordOf(now.main(), "STATUS") == "CANCELLED":
		return "cancelled"
	}
	return cmp.Or(sentences[m], "other")
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
func invited(l *locale.Language, v view) string {
	var names []string
	for _, p := range v.Attendees {
		if p.Address != v.Organizer.Address {
			names = append(names, p.String())
		}
	}
	if v.Others > 0 {
		names = append(names, l.Text("mail.others", "count", v.Others))
	}
	return and(l, bounded(l, names))
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
func SummaryOf(l calendar.Letter, local *time.Location, in *locale.Language) (Summary, error) {
	s, err := read(l.Data, local, in)
	if err != nil {
		return Summary{}, err
	}
	v := s.view()
	return Summary{v.Title, v.When, v.Repeats, v.Where, v.Description, v.Organizer, myStatus(v, l.To), v.End}, nil
}

// AnswerIn returns the present answer of a letter's recipient from the organizer's event; "" if it has none.
func AnswerIn(event []byte, l calendar.Letter) string {
	s, err := read(event, nil, nil)
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
