// Package poll runs polls: an owner offers times to several people, who answer by link, and picks one of them. It has
// no HTML. See docs/decisions/0133-polls.md.
package poll

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"time"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/poll"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/web/outside"
)

// Service runs the polls.
type Service struct {
	Calendars *service.Service
	Store     Store
	// Root is the prefix of the links in mails; nil if the server sends no mail. Then people only get links from the
	// owner.
	Root *url.URL
	// Outbox limits a user's waiting mails.
	Outbox calendar.OutboxLimits
	// Address returns a mail address in its usual form, or an error.
	Address func(written string) (string, error)
	Now     func() time.Time
	NewID   func() string
}

// Store is the part of the store that polls need.
type Store interface {
	calendar.Polls
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
}

// limits limit polls. Strangers cause no mail, so a network may give many answers: colleagues often share one.
var limits = calendar.PollLimits{Polls: 20, Invited: 30, People: 200, Network: 60, Changes: 100}

const (
	// keptFor is how long a poll is kept after its last time, its closing date and its end.
	keptFor = 30 * 24 * time.Hour
	// remindersMost and remindEvery limit the reminders of a person.
	remindersMost = 3
	remindEvery   = 20 * time.Hour
)

// The errors for people.
var (
	// ErrMissing is the error for every poll and link that a visitor may not open, for any reason.
	ErrMissing = errors.New("there is no such poll")
	// ErrClosed is the error for an answer to a poll that takes none any more.
	ErrClosed = errors.New("the poll is closed")
	// ErrChanged is the error if a poll or the answers were changed since the form was shown.
	ErrChanged = errors.New("the poll or the answers were changed meanwhile")
	// ErrLimit is the error for too many answers, people or polls.
	ErrLimit = errors.New("too many answers, people or polls")
	// ErrName, ErrAddress and ErrAnswer are the errors for the form of an answer.
	ErrName    = errors.New("the name is missing or too long")
	ErrAddress = errors.New("this is no mail address")
	ErrAnswer  = errors.New("there is no answer")
	// ErrPicked is the error if the owner has picked a time already, or cancelled the poll.
	ErrPicked = errors.New("the poll has ended")
	// ErrNobody is the error if no person may be reminded now.
	ErrNobody = errors.New("there is no person to remind now")
)

// View is a poll.
type View struct {
	calendar.Poll
	rules.Settings
	Owner calendar.User
	// Zone is the zone of the owner's form.
	Zone   *zone.Zone
	People []Person
	// Tallies are the counts for each time.
	Tallies []rules.Tally
}

// Person is a person with their answers.
type Person struct {
	calendar.PollPerson
	Answers rules.Answers
}

// Title returns the name of a person, or the address.
func (p Person) Title() string {
	if p.Name == "" {
		return p.Address
	}
	return p.Name
}

// Takes reports whether a poll takes answers at a moment.
func (v View) Takes(now time.Time) bool { return v.State == calendar.PollOpen && v.Closes.After(now) }

// Until is the last minute for answers, for people.
func (v View) Until() time.Time { return v.Closes.Add(-time.Minute) }

// caller is the owner as the caller of the service.
func (v View) caller() calendar.Caller {
	return calendar.Caller{User: v.Owner, Scopes: calendar.ScopeAll, Agent: "poll"}
}

// language returns the language of mails to a person: of their answer, of the poll, or of its owner.
func (v View) language(p calendar.PollPerson) *locale.Language {
	return locale.Match(append([]string{p.Language, v.Settings.Language}, v.Owner.Languages()...)...)
}

// view reads a poll with its owner and its people.
func (s *Service) view(ctx context.Context, p calendar.Poll) (v View, err error) {
	v.Poll = p
	if v.Settings, err = rules.Decode(p.Settings); err != nil {
		return v, err
	}
	if v.Owner, err = s.Store.UserByID(ctx, p.Owner); err != nil {
		return v, err
	}
	if v.Zone, err = zone.Lookup(v.Settings.Zone); err != nil {
		v.Zone = zone.UTC()
	}
	people, err := s.Store.PollPeople(ctx, p.ID)
	if err != nil {
		return v, err
	}
	var answers []rules.Answers
	for _, one := range people {
		given, err := rules.ReadAnswers(one.Answers)
		if err != nil {
			return v, err
		}
		v.People, answers = append(v.People, Person{one, given}), append(answers, given)
	}
	v.Tallies = rules.Count(v.Times, answers)
	return v, nil
}

// missing hides the reason why there is no poll.
func missing(err error) error {
	if calendar.ReasonOf(err) == calendar.NotFound {
		return ErrMissing
	}
	return err
}

// Visit is a poll as a link shows it.
type Visit struct {
	View
	// Person is the person of the link. It is zero for the link for everyone.
	Person Person
}

// Find returns the poll of a link. It changes nothing.
func (s *Service) Find(ctx context.Context, link string) (v Visit, err error) {
	person, err := s.Store.PollPersonByLink(ctx, link)
	var p calendar.Poll
	if everyone := calendar.ReasonOf(err) == calendar.NotFound; everyone {
		p, err = s.Store.PollByLink(ctx, link)
	} else if err == nil {
		p, err = s.Store.Poll(ctx, person.Poll)
	}
	if err != nil {
		return v, missing(err)
	}
	if v.View, err = s.view(ctx, p); err != nil {
		return v, missing(err)
	}
	if !v.Owner.GetsIn() || person.ID == "" && !v.Open {
		return Visit{}, ErrMissing
	}
	for _, one := range v.People {
		if one.ID == person.ID {
			v.Person = one
		}
	}
	if v.Person.ID != person.ID {
		return Visit{}, ErrMissing // removed meanwhile
	}
	return v, nil
}

// Reply is a person's form.
type Reply struct {
	// Name and Address are for the link for everyone; Address may be empty.
	Name, Address string
	Answers       rules.Answers
	// Changes is the version of the answers that the form showed.
	Changes int64
	// Key makes a form that is sent twice one answer.
	Key string
	// Zone is the name of the person's time zone, Language the tag of the page's language. Network is a hash of the
	// network.
	Zone, Language, Network string
}

// leastKey is the shortest key of a form.
const leastKey = 20

// Answer stores the answers of a form and returns the person's own link.
func (s *Service) Answer(ctx context.Context, link string, r Reply) (own string, err error) {
	v, err := s.Find(ctx, link)
	if err != nil {
		return "", err
	}
	if !v.Takes(s.Now()) {
		return "", ErrClosed
	}
	p := v.Person.PollPerson
	p.Zone, p.Language = r.Zone, r.Language
	if p.ID == "" {
		if p, err = s.newcomer(v.View, r); err != nil {
			return "", err
		}
	} else if p.Changes != r.Changes {
		return "", ErrChanged
	}
	given := rules.Answers{}
	for _, t := range v.Times {
		if answer, ok := r.Answers[t.ID]; ok {
			given[t.ID] = answer
		} else if answer, ok := v.Person.Answers[t.ID]; ok {
			given[t.ID] = answer
		}
	}
	if len(given) == 0 {
		return "", ErrAnswer
	}
	if p.Answers, err = given.Encode(); err != nil {
		return "", err
	}
	if v.Person.ID == "" {
		err = s.Store.AddPollAnswer(ctx, p, limits)
		if calendar.ReasonOf(err) == calendar.Exists {
			return p.Link, nil // the form was sent twice
		}
	} else {
		err = s.Store.UpdatePollAnswer(ctx, p, s.Now(), limits)
	}
	return p.Link, s.refused(ctx, link, err)
}

// newcomer returns the person of an answer by the link for everyone.
func (s *Service) newcomer(v View, r Reply) (p calendar.PollPerson, err error) {
	p.Name = outside.Line(r.Name)
	if n := utf8.RuneCountInString(p.Name); n < 1 || n > rules.LongestName {
		return p, ErrName
	}
	if r.Address != "" {
		if p.Address, err = s.Address(r.Address); err != nil {
			return p, ErrAddress
		}
	}
	if len(r.Key) < leastKey {
		r.Key = outside.NewToken()
	}
	// The person's browser chose the key, so it must not become the link: it could be another poll's.
	sum := sha256.Sum256([]byte("poll answer " + string(v.ID) + " " + r.Key))
	p.ID, p.Poll, p.Link = calendar.PollPersonID(s.NewID()), v.ID, base64.RawURLEncoding.EncodeToString(sum[:24])
	p.Zone, p.Language, p.Network, p.Created, p.Changes = r.Zone, r.Language, r.Network, s.now(), 1
	return p, nil
}

// refused returns the error of storing an answer for the person.
func (s *Service) refused(ctx context.Context, link string, err error) error {
	reason := calendar.ReasonOf(err)
	if reason == calendar.TooLarge {
		return ErrLimit
	}
	if reason != calendar.Stale {
		return err
	}
	if v, err := s.Find(ctx, link); err != nil || !v.Takes(s.Now()) {
		return errors.Join(ErrClosed, err)
	}
	return ErrChanged
}

// now returns the current time as it is stored.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Second) }
