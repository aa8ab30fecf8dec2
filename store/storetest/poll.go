package storetest

import (
	"context"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

func pollTests() []test {
	return []test{
		{"a poll is kept until its owner deletes it", pollIsKept},
		{"a change of another version is refused", pollIsStale},
		{"an owner has a limited number of polls", pollsAreLimited},
		{"an answer of another version is refused", pollAnswerIsStale},
		{"a closed poll takes no answers", pollCloses},
		{"answers are limited", pollAnswersAreLimited},
		{"the limit holds for answers at the same time", pollAnswersAreLimitedAtOnce},
		{"a poll is picked once", pollIsPickedOnce},
		{"people are reminded once", pollRemindsOnce},
		{"a poll that has ended is deleted", pollEnds},
	}
}

// mostInPolls are low limits, mostWaiting are high ones.
var (
	mostInPolls = calendar.PollLimits{Polls: 2, Invited: 2, People: 4, Network: 3, Changes: 3}
	mostWaiting = calendar.OutboxLimits{Letters: 10, Bytes: 1 << 20, Letter: 1 << 10}
)

// makePoll stores a poll with some people. They get a letter each.
func (b *bundle) makePoll(owner calendar.User, people ...string) (calendar.Poll, []calendar.PollPerson) {
	b.Helper()
	p := calendar.Poll{
		ID: calendar.PollID(b.id("poll")), Owner: owner.ID, State: calendar.PollOpen, Created: b.now(),
		Closes: b.now().Add(24 * time.Hour), Ends: b.now().Add(48 * time.Hour), Settings: []byte(`{"title":"Walk"}`),
	}
	p.Link = "link of " + string(p.ID)
	var list []calendar.PollPerson
	var letters []calendar.Letter
	for _, name := range people {
		one := b.pollPerson(p, name, "")
		one.Invited, one.Address, one.Answers, one.Changes = true, name+"@example.com", []byte(`{}`), 0
		list, letters = append(list, one), append(letters, b.pollLetter(owner, one))
	}
	b.must(b.SavePoll(b.Context(), p, list, letters, mostInPolls, mostWaiting))
	p.Version = 1
	return p, list
}

func (b *bundle) pollPerson(p calendar.Poll, name, network string) calendar.PollPerson {
	id := b.id("person")
	return calendar.PollPerson{
		ID: calendar.PollPersonID(id), Poll: p.ID, Link: "link of " + id, Name: name, Zone: "Asia/Tokyo",
		Language: "pl", Network: network, Created: b.now(), Answers: []byte(`{"1":"yes"}`), Changes: 1,
		Reminded: time.Unix(0, 0).UTC(),
	}
}

func (b *bundle) pollLetter(owner calendar.User, p calendar.PollPerson) calendar.Letter {
	to := calendar.MailAddress(p.Address)
	return calendar.Letter{
		ID: calendar.LetterID(b.id("letter")), User: owner.ID, From: to, To: to, Method: calendar.MethodPoll,
		UID: calendar.UID("poll-" + string(p.ID)), Posted: b.now(), Due: b.now(), Data: []byte(p.ID),
	}
}

// savePoll saves a poll without new people.
func (b *bundle) savePoll(p calendar.Poll) error {
	return b.SavePoll(b.Context(), p, nil, nil, mostInPolls, mostWaiting)
}

func pollIsKept(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	first, people := b.makePoll(ann, "eve", "mia")
	b.pass(time.Minute)
	second, _ := b.makePoll(ann)
	gives(b, "all", []calendar.Poll{second, first})(b.Polls(b.Context(), ann.ID))
	gives(b, "by id", first)(b.Poll(b.Context(), first.ID))
	gives(b, "by link", second)(b.PollByLink(b.Context(), second.Link))
	gives(b, "people", people)(b.PollPeople(b.Context(), first.ID))
	gives(b, "a person", people[1])(b.PollPerson(b.Context(), people[1].ID))
	gives(b, "a person by link", people[0])(b.PollPersonByLink(b.Context(), people[0].Link))
	gives(b, "letters", 2)(b.WaitingOf(b.Context(), ann.ID))

	b.refused(b.DeletePollPerson(b.Context(), second.ID, people[0].ID), calendar.NotFound, "")
	b.must(b.DeletePollPerson(b.Context(), first.ID, people[0].ID))
	b.refuses(calendar.NotFound, "")(b.PollPersonByLink(b.Context(), people[0].Link))
	b.refused(b.DeletePoll(b.Context(), bob.ID, first.ID), calendar.NotFound, "")
	b.must(b.DeletePoll(b.Context(), ann.ID, first.ID))
	b.refuses(calendar.NotFound, "")(b.Poll(b.Context(), first.ID))
	b.refuses(calendar.NotFound, "")(b.PollPerson(b.Context(), people[1].ID))
	b.must(b.DeleteUser(b.Context(), ann.ID))
	b.refuses(calendar.NotFound, "")(b.Poll(b.Context(), second.ID))
}

func pollIsStale(b *bundle) {
	ann := b.user("ann")
	p, _ := b.makePoll(ann, "eve")
	p.Settings = []byte(`{"title":"Swim"}`)
	b.must(b.savePoll(p))
	b.refused(b.savePoll(p), calendar.Stale, "")
	p.Version, p.State = 2, calendar.PollCancelled
	b.must(b.savePoll(p))
	p.Version = 3
	gives(b, "cancelled", p)(b.Poll(b.Context(), p.ID))
	// A refused change adds no person and no letter.
	late := b.pollPerson(p, "late", "")
	err := b.SavePoll(b.Context(), p, []calendar.PollPerson{late}, []calendar.Letter{b.pollLetter(ann, late)},
		mostInPolls, mostWaiting)
	b.refused(err, calendar.Stale, "")
	b.refuses(calendar.NotFound, "")(b.PollPerson(b.Context(), late.ID))
	gives(b, "letters", 1)(b.WaitingOf(b.Context(), ann.ID))
}

func pollsAreLimited(b *bundle) {
	ann := b.user("ann")
	p, _ := b.makePoll(ann, "eve", "mia")
	more := b.pollPerson(p, "max", "")
	more.Invited = true
	err := b.SavePoll(b.Context(), p, []calendar.PollPerson{more}, nil, mostInPolls, mostWaiting)
	b.refused(err, calendar.TooLarge, "")
	b.makePoll(ann)
	third := p
	third.ID, third.Link, third.Version = "third", "third", 0
	b.refused(b.savePoll(third), calendar.TooLarge, "")
	gives(b, "polls", 2)(count(b.Polls(b.Context(), ann.ID)))
}

// count returns the length of a list.
func count[T any](list []T, err error) (int, error) { return len(list), err }

func pollAnswerIsStale(b *bundle) {
	p, people := b.makePoll(b.user("ann"), "eve")
	eve := people[0]
	eve.Answers, eve.Zone = []byte(`{"1":"no"}`), "UTC"
	b.must(b.UpdatePollAnswer(b.Context(), eve, b.now(), mostInPolls))
	other := eve
	other.Answers = []byte(`{"1":"yes"}`)
	b.refused(b.UpdatePollAnswer(b.Context(), other, b.now(), mostInPolls), calendar.Stale, "")
	eve.Changes = 1
	gives(b, "the first", []calendar.PollPerson{eve})(b.PollPeople(b.Context(), p.ID))
	for eve.Changes < mostInPolls.Changes {
		b.must(b.UpdatePollAnswer(b.Context(), eve, b.now(), mostInPolls))
		eve.Changes++
	}
	b.refused(b.UpdatePollAnswer(b.Context(), eve, b.now(), mostInPolls), calendar.TooLarge, "")
}

func pollCloses(b *bundle) {
	ann := b.user("ann")
	p, people := b.makePoll(ann, "eve")
	cancelled, others := b.makePoll(ann, "mia")
	cancelled.State = calendar.PollCancelled
	b.must(b.savePoll(cancelled))
	b.refused(b.UpdatePollAnswer(b.Context(), others[0], b.now(), mostInPolls), calendar.Stale, "")
	b.refused(b.AddPollAnswer(b.Context(), b.pollPerson(cancelled, "max", "n"), mostInPolls), calendar.Stale, "")
	b.pass(24 * time.Hour)
	b.refused(b.UpdatePollAnswer(b.Context(), people[0], b.now(), mostInPolls), calendar.Stale, "")
	b.refused(b.AddPollAnswer(b.Context(), b.pollPerson(p, "max", "n"), mostInPolls), calendar.Stale, "")
	// The owner can still pick.
	p.State, p.Picked, p.Calendar, p.UID = calendar.PollPicked, 1, "cal", "uid"
	b.update(func(tx calendar.Tx) error { return tx.PickPoll(b.Context(), p) })
	p.Version++
	gives(b, "picked", p)(b.Poll(b.Context(), p.ID))
}

func pollAnswersAreLimited(b *bundle) {
	ann := b.user("ann")
	p, _ := b.makePoll(ann)
	q, _ := b.makePoll(ann)
	add := func(p calendar.Poll, network string, want bool) {
		b.Helper()
		err := b.AddPollAnswer(b.Context(), b.pollPerson(p, "eve", network), mostInPolls)
		if want {
			b.must(err)
			return
		}
		b.refused(err, calendar.TooLarge, "")
	}
	add(p, "a", true)
	add(p, "a", true)
	add(q, "a", true)
	add(q, "a", false) // three of one network
	add(p, "b", true)
	b.pass(time.Hour)
	add(p, "a", true)
	add(p, "c", false) // four in one poll
	again := b.pollPerson(q, "eve", "d")
	b.must(b.AddPollAnswer(b.Context(), again, mostInPolls))
	again.ID = "other"
	b.refused(b.AddPollAnswer(b.Context(), again, mostInPolls), calendar.Exists, "")
}

// together runs functions at the same time, in turn on two stores, and counts those without an error.
func (b *bundle) together(n int, do func(s Store, i int) error) (succeeded int) {
	stores := []Store{b.Store, b.another()}
	results := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { results[i] = do(stores[i%2], i) })
	}
	all.Wait()
	for _, err := range results {
		if err == nil {
			succeeded++
		}
	}
	return succeeded
}

func pollAnswersAreLimitedAtOnce(b *bundle) {
	p, _ := b.makePoll(b.user("ann"))
	people := make([]calendar.PollPerson, 8)
	for i := range people {
		people[i] = b.pollPerson(p, "eve", b.id("network"))
	}
	n := b.together(len(people), func(s Store, i int) error {
		return s.AddPollAnswer(context.WithoutCancel(b.Context()), people[i], mostInPolls)
	})
	same(b, "answers", n, int(mostInPolls.People))
}

func pollIsPickedOnce(b *bundle) {
	p, _ := b.makePoll(b.user("ann"))
	p.State, p.Calendar = calendar.PollPicked, "cal"
	n := b.together(6, func(s Store, i int) error {
		mine := p
		mine.Picked, mine.UID = int64(i+1), calendar.UID(b.id("uid"))
		return s.Update(b.Context(), func(tx calendar.Tx) error { return tx.PickPoll(b.Context(), mine) })
	})
	same(b, "picks", n, 1)
	b.refused(b.savePoll(p), calendar.Stale, "")
}

func pollRemindsOnce(b *bundle) {
	ann := b.user("ann")
	p, people := b.makePoll(ann, "eve")
	b.pass(time.Hour)
	remind := func(s Store) error {
		return s.RemindPoll(b.Context(), p, people, []calendar.Letter{b.pollLetter(ann, people[0])}, b.now(),
			mostWaiting)
	}
	same(b, "reminders", b.together(4, func(s Store, _ int) error { return remind(s) }), 1)
	eve := people[0]
	eve.Reminders, eve.Reminded = 1, b.now()
	gives(b, "reminded", eve)(b.PollPerson(b.Context(), eve.ID))
	// The reminder replaces the first letter, which still waits.
	gives(b, "letters", 1)(b.WaitingOf(b.Context(), ann.ID))
}

func pollEnds(b *bundle) {
	ann := b.user("ann")
	p, people := b.makePoll(ann, "eve")
	b.pass(48*time.Hour - time.Second)
	b.must(b.Prune(b.Context(), b.now().AddDate(-1, 0, 0)))
	gives(b, "before", p)(b.Poll(b.Context(), p.ID))
	b.pass(time.Second)
	b.must(b.Prune(b.Context(), b.now().AddDate(-1, 0, 0)))
	b.refuses(calendar.NotFound, "")(b.Poll(b.Context(), p.ID))
	b.refuses(calendar.NotFound, "")(b.PollPerson(b.Context(), people[0].ID))
}
