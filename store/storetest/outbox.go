package storetest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

func outboxTests() []test {
	return []test{
		{"a mail is taken and concluded", letterGoesOut},
		{"it is queued with the change, or not at all", letterIsPartOfChange},
		{"a later one replaces it", letterIsReplaced},
		{"a mail that is being sent is not replaced", letterUnderWayStays},
		{"mails to one recipient keep their order", lettersKeepOrder},
		{"two senders never take the same one", lettersAreTakenOnce},
		{"a sender that takes too long loses it", letterIsLost},
		{"a sender that is still busy holds it", lettersAreHeld},
		{"a user with too many waiting mails is refused", outboxIsBounded},
		{"sent mails are known", toldIsKnown},
		{"mails without news of the event leave the sent state", toldIsLeft},
		{"sent mails are pruned by age", toldIsForgotten},
		{"a large meeting does not push out other meetings", toldOfLarge},
		{"they are deleted with their user", lettersGoWithUser},
		{"they can be listed by recipient", lettersTo},
	}
}

// outboxMost are limits that no test reaches by accident.
func outboxMost() calendar.OutboxLimits {
	return calendar.OutboxLimits{Letters: 100, Bytes: 10_000, Letter: 1000}
}

// letter is an iTIP mail that is not queued yet.
func (b *bundle) letter(from calendar.User, to calendar.MailAddress, uid calendar.UID) calendar.Letter {
	id := b.id("letter")
	return calendar.Letter{
		ID: calendar.LetterID(id), User: from.ID, From: calendar.MailAddress(from.Email), To: to,
		Method: calendar.MethodRequest, UID: uid,
		Sequence: 3, First: true, Posted: b.now(), Due: b.now().Add(30 * time.Second), Data: []byte("data of " + id),
	}
}

func (b *bundle) post(letters ...calendar.Letter) {
	b.Helper()
	b.must(b.postAtMost(outboxMost(), letters...))
}

func (b *bundle) postAtMost(most calendar.OutboxLimits, letters ...calendar.Letter) error {
	return b.Update(b.Context(), func(tx calendar.Tx) error {
		return tx.Post(b.Context(), letters[0].User, letters, most)
	})
}

// take leases the mails that are due for a minute.
func (b *bundle) take(s calendar.Store) []calendar.Letter {
	b.Helper()
	letters, err := s.TakeLetters(b.Context(), b.now(), b.now().Add(time.Minute), 100)
	b.must(err)
	return letters
}

// lettersAreHeld: a taken letter stays taken while its holder says so, and not after it was settled.
func lettersAreHeld(b *bundle) {
	ann := b.user("ann")
	b.post(b.letter(ann, "one@example.org", "uid"), b.letter(ann, "two@example.org", "uid"))
	b.pass(time.Hour)
	taken := b.take(b.Store)
	same(b, "the letters", len(taken), 2)
	b.must(b.SettleLetter(b.Context(), taken[0]))
	b.must(b.HoldLetters(b.Context(), []calendar.LetterID{taken[0].ID, taken[1].ID, "unknown"}, b.now().Add(time.Hour)))
	b.pass(2 * time.Minute)
	again := b.take(b.Store)
	same(b, "the letters after their time", len(again), 1)
	same(b, "the settled one", again[0].ID, taken[0].ID)
	b.pass(time.Hour)
	same(b, "the letters when nobody holds them", len(b.take(b.Store)), 2)
}

// send takes the mails that are due and marks them as sent.
func (b *bundle) send() []calendar.Letter {
	b.Helper()
	letters := b.take(b.Store)
	for _, l := range letters {
		b.must(b.ConcludeLetter(b.Context(), l, true, b.now(), 1000))
	}
	return letters
}

func (b *bundle) told(l calendar.Letter) []calendar.Letter {
	b.Helper()
	told, err := b.Told(b.Context(), l.User, l.To, l.UID)
	b.must(err)
	return told
}

func letterIDs(letters []calendar.Letter) string {
	var all []string
	for _, l := range letters {
		all = append(all, string(l.ID))
	}
	return strings.Join(all, " ")
}

func lettersTo(b *bundle) {
	ann := b.user("ann")
	first, other, elsewhere := b.letter(ann, "guest@example.org", "uid"), b.letter(ann, "other@example.org", "uid"),
		b.letter(ann, "guest@example.org", "another")
	second := b.letter(ann, "guest@example.org", "uid")
	second.Method, second.Recurrence = calendar.MethodCancel, "20260315T090000Z"
	b.post(first, other, elsewhere, second)
	waiting, err := b.WaitingFor(b.Context(), ann.ID, "guest@example.org", "uid")
	b.must(err)
	same(b, "the waiting ones, earliest first", letterIDs(waiting), letterIDs([]calendar.Letter{first, second}))
	same(b, "method", waiting[1].Method, calendar.MethodCancel)
	b.wroteTo(ann, "guest@example.org", true)
	b.pass(time.Hour)
	b.send()
	b.send()
	b.wroteTo(ann, "guest@example.org", true)
	b.wroteTo(ann, "stranger@example.org", false)
	b.wroteTo(b.user("bea"), "guest@example.org", false)
	waiting, err = b.WaitingFor(b.Context(), ann.ID, "guest@example.org", "uid")
	b.must(err)
	same(b, "once they are sent", len(waiting), 0)
}

func (b *bundle) wroteTo(from calendar.User, to calendar.MailAddress, want bool) {
	b.Helper()
	wrote, err := b.WroteTo(b.Context(), calendar.Recipient{User: from.ID, To: to})
	b.must(err)
	same(b, string(from.ID)+" wrote to "+string(to), wrote, want)
}

func letterGoesOut(b *bundle) {
	l := b.letter(b.user("ann"), "guest@example.org", "uid")
	l.Recurrence = "RECURRENCE-ID:20260315T090000Z"
	b.post(l)
	same(b, "before it is due", b.take(b.Store), nil)
	n, oldest, err := b.WaitingLetters(b.Context())
	b.must(err)
	same(b, "waiting", n, 1)
	same(b, "oldest", oldest, l.Posted)
	n, err = b.WaitingOf(b.Context(), l.User)
	b.must(err)
	same(b, "waiting for ann", n, 1)
	n, err = b.WaitingOf(b.Context(), b.user("bob").ID)
	b.must(err)
	same(b, "waiting for bob", n, 0)
	b.pass(30 * time.Second)
	l.Tries = 1
	same(b, "when it is due", b.take(b.another()), []calendar.Letter{l})
	same(b, "once it is taken", b.take(b.Store), nil)
	l.Due = b.now().Add(time.Hour)
	b.must(b.SettleLetter(b.Context(), l))
	same(b, "while it waits for another try", b.take(b.Store), nil)
	b.pass(time.Hour)
	l.Tries = 2
	same(b, "for another try", b.take(b.Store), []calendar.Letter{l})
	l.Status = "1.1"
	b.must(b.SettleLetter(b.Context(), l))
	l.Tries = 3
	same(b, "sent, and not yet concluded", b.take(b.Store), []calendar.Letter{l})
	b.must(b.ConcludeLetter(b.Context(), l, true, b.now(), 1000))
	n, oldest, err = b.WaitingLetters(b.Context())
	b.must(err)
	same(b, "waiting in the end", n, 0)
	same(b, "oldest in the end", oldest.IsZero(), true)
}

func letterIsPartOfChange(b *bundle) {
	l := b.letter(b.user("ann"), "guest@example.org", "uid")
	failed := fmt.Errorf("the change failed")
	err := b.Update(b.Context(), func(tx calendar.Tx) error {
		b.must(tx.Post(b.Context(), l.User, []calendar.Letter{l}, outboxMost()))
		return failed
	})
	if err == nil {
		b.Error("the change did not fail")
	}
	b.pass(time.Hour)
	same(b, "taken", b.take(b.Store), nil)
}

func letterIsReplaced(b *bundle) {
	ann := b.user("ann")
	first := b.letter(ann, "guest@example.org", "uid")
	elsewhere, others := b.letter(ann, "guest@example.org", "another"), b.letter(ann, "second@example.org", "uid")
	b.post(first, elsewhere, others)
	b.pass(20 * time.Second)
	next := b.letter(ann, "guest@example.org", "uid")
	next.First, next.Sequence = false, 4
	b.post(next)
	b.pass(time.Minute)
	next.First, next.Posted, next.Tries = true, first.Posted, 1
	taken := b.take(b.Store)
	same(b, "letters", letterIDs(taken), letterIDs([]calendar.Letter{elsewhere, others, next}))
	same(b, "the one that took its place", taken[2], next)

	// A change queues two mails and a third that cancels both.
	one, two, none := b.letter(ann, "third@example.org", "uid"), b.letter(ann, "third@example.org", "uid"),
		b.letter(ann, "third@example.org", "uid")
	two.Recurrence, none.Method = "RECURRENCE-ID:20260315T090000Z", calendar.MethodCancel
	b.post(one, two, none)
	b.pass(time.Hour)
	for _, l := range b.take(b.Store) {
		if l.To == "third@example.org" {
			b.Errorf("a recipient without any earlier mail gets a %s", l.Method)
		}
	}
}

func letterUnderWayStays(b *bundle) {
	ann := b.user("ann")
	first := b.letter(ann, "guest@example.org", "uid")
	b.post(first)
	b.pass(30 * time.Second)
	same(b, "under way", letterIDs(b.take(b.Store)), string(first.ID))
	cancel := b.letter(ann, "guest@example.org", "uid")
	cancel.Method, cancel.Due = calendar.MethodCancel, b.now()
	b.post(cancel)
	same(b, "behind it", b.take(b.Store), nil)
	first.Tries = 1
	b.must(b.ConcludeLetter(b.Context(), first, true, b.now(), 1000))
	cancel.First, cancel.Tries = false, 1
	same(b, "after it", b.take(b.Store), []calendar.Letter{cancel})
}

func lettersKeepOrder(b *bundle) {
	ann := b.user("ann")
	one, two := b.letter(ann, "guest@example.org", "uid"), b.letter(ann, "guest@example.org", "uid")
	one.Recurrence, two.Recurrence = "RECURRENCE-ID:20260315T090000Z", "RECURRENCE-ID:20260316T090000Z"
	one.Due = b.now().Add(time.Hour)
	b.post(one, two)
	b.pass(time.Minute)
	same(b, "before the first is due", b.take(b.Store), nil)
	b.pass(time.Hour)
	same(b, "the first", letterIDs(b.send()), string(one.ID))
	same(b, "the second", letterIDs(b.send()), string(two.ID))
}

func lettersAreTakenOnce(b *bundle) {
	ann := b.user("ann")
	var all []calendar.Letter
	for i := range 60 {
		all = append(all, b.letter(ann, calendar.MailAddress(fmt.Sprintf("guest%d@example.org", i)), "uid"))
	}
	b.post(all...)
	b.pass(time.Hour)
	var mu sync.Mutex
	var wait sync.WaitGroup
	times := map[calendar.LetterID]int{}
	for _, s := range []calendar.Store{b.Store, b.another(), b.another()} {
		wait.Go(func() {
			for range 5 {
				letters, err := s.TakeLetters(b.Context(), b.now(), b.now().Add(time.Minute), 7)
				if err != nil {
					b.Error(err)
				}
				mu.Lock()
				for _, l := range letters {
					times[l.ID]++
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	// A sender that competes for a mail with another one may get none, and retries.
	for _, l := range b.take(b.Store) {
		times[l.ID]++
	}
	same(b, "letters taken", len(times), len(all))
	for id, n := range times {
		if n != 1 {
			b.Errorf("%s was taken %d times", id, n)
		}
	}
}

func letterIsLost(b *bundle) {
	l := b.letter(b.user("ann"), "guest@example.org", "uid")
	b.post(l)
	b.pass(time.Minute)
	slow := b.take(b.Store)[0]
	b.pass(time.Minute)
	quick := b.take(b.another())
	if len(quick) != 1 || quick[0].Tries != 2 {
		b.Fatalf("another takes %v", quick)
	}
	slow.Status = "5.1"
	b.refused(b.SettleLetter(b.Context(), slow), calendar.NotFound, "")
	b.must(b.ConcludeLetter(b.Context(), slow, true, b.now(), 1000))
	quick[0].Status = "1.1"
	b.must(b.SettleLetter(b.Context(), quick[0]))
}

func outboxIsBounded(b *bundle) {
	ann := b.user("ann")
	one, two, three := b.letter(ann, "a@example.org", "uid"), b.letter(ann, "b@example.org", "uid"),
		b.letter(ann, "c@example.org", "uid")
	b.refused(b.postAtMost(calendar.OutboxLimits{Letters: 2, Bytes: 1000, Letter: 100}, one, two, three),
		calendar.TooLarge, "")
	b.refused(b.postAtMost(calendar.OutboxLimits{Letters: 3, Bytes: 30, Letter: 100}, one, two, three),
		calendar.TooLarge, "")
	b.refused(b.postAtMost(calendar.OutboxLimits{Letters: 3, Bytes: 1000, Letter: 10}, one), calendar.TooLarge,
		calendar.RuleMaxSize)
	b.must(b.postAtMost(calendar.OutboxLimits{Letters: 3, Bytes: 1000, Letter: 100}, one, two, three))
	// A mail that replaces another does not count twice. Each user has their own limit.
	b.must(b.postAtMost(calendar.OutboxLimits{Letters: 3, Bytes: 1000, Letter: 100},
		b.letter(ann, "a@example.org", "uid")))
	b.must(b.postAtMost(calendar.OutboxLimits{Letters: 3, Bytes: 1000, Letter: 100},
		b.letter(b.user("bob"), "a@example.org", "uid")))
}

func toldIsKnown(b *bundle) {
	ann := b.user("ann")
	whole, instance := b.letter(ann, "guest@example.org", "uid"), b.letter(ann, "guest@example.org", "uid")
	instance.Recurrence = "RECURRENCE-ID:20260315T090000Z"
	b.post(whole, instance)
	b.pass(time.Hour)
	b.send()
	b.send()
	told := b.told(whole)
	same(b, "told", letterIDs(told), letterIDs([]calendar.Letter{whole, instance}))
	whole.Tries, whole.Due = 1, b.now()
	same(b, "as it was", told[0], whole)
	gives(b, "by its id", whole)(b.ToldBy(b.Context(), whole.ID))

	anew := b.letter(ann, "guest@example.org", "uid")
	b.post(anew)
	b.pass(time.Minute)
	b.send()
	same(b, "after the whole event was sent again", letterIDs(b.told(whole)), string(anew.ID))
	b.refuses(calendar.NotFound, "")(b.ToldBy(b.Context(), instance.ID))
}

// toldIsLeft: a declined proposal or a request for the latest version does not change the state last sent.
func toldIsLeft(b *bundle) {
	ann := b.user("ann")
	whole, instance := b.letter(ann, "guest@example.org", "uid"), b.letter(ann, "guest@example.org", "uid")
	instance.Recurrence = "RECURRENCE-ID:20260315T090000Z"
	b.post(whole, instance)
	for range 2 {
		b.pass(time.Hour)
		b.send()
	}
	for _, method := range []calendar.Method{calendar.MethodDecline, calendar.MethodRefresh} {
		for _, recurrence := range []string{"", instance.Recurrence} {
			l := b.letter(ann, "guest@example.org", "uid")
			l.Method, l.Recurrence = method, recurrence
			b.post(l)
			b.pass(time.Hour)
			same(b, string(method), letterIDs(b.send()), string(l.ID))
			same(b, "told after "+string(method)+" of "+recurrence, letterIDs(b.told(whole)),
				letterIDs([]calendar.Letter{whole, instance}))
		}
	}
	waiting, _, err := b.WaitingLetters(b.Context())
	b.must(err)
	same(b, "waiting in the end", waiting, 0)
}

func toldIsForgotten(b *bundle) {
	ann := b.user("ann")
	const day = 24 * time.Hour
	request, reply := b.letter(ann, "guest@example.org", "uid"), b.letter(ann, "guest@example.org", "reply")
	reply.Method = calendar.MethodReply
	b.post(request, reply)
	b.pass(time.Minute)
	b.send()
	b.pass(30 * day)
	b.must(b.Prune(b.Context(), b.now().Add(-day)))
	same(b, "a reply after a month", b.told(reply), nil)
	same(b, "a request after a month", len(b.told(request)), 1)
	b.pass(365 * day)
	b.must(b.Prune(b.Context(), b.now().Add(-day)))
	same(b, "a request after a year", b.told(request), nil)

	big := b.letter(ann, "guest@example.org", "big")
	b.post(big)
	b.pass(time.Minute)
	b.send()
	b.pass(time.Minute)
	for i := range 10 {
		l := b.letter(ann, "guest@example.org", calendar.UID(fmt.Sprint(i)))
		l.Data = []byte(strings.Repeat("x", 100))
		b.post(l)
	}
	b.pass(time.Minute)
	b.send()
	same(b, "a mail that is too large to keep", b.told(big), nil)
}

// toldOfLarge: the mails of a large meeting do not push out the stored mails of other meetings. Its own are still
// known by ID, some of them without data.
func toldOfLarge(b *bundle) {
	ann := b.user("ann")
	small := b.letter(ann, "guest@example.org", "small")
	b.post(small)
	b.pass(time.Minute)
	tell := func() {
		for _, l := range b.take(b.Store) {
			b.must(b.ConcludeLetter(b.Context(), l, true, b.now(), 3000))
		}
	}
	tell()
	var large []calendar.Letter
	for i := range 4 {
		l := b.letter(ann, calendar.MailAddress(fmt.Sprintf("guest%d@example.org", i)), "large")
		l.Data = []byte(strings.Repeat("x", 900))
		large = append(large, l)
	}
	b.post(large...)
	b.pass(time.Minute)
	tell()
	same(b, "the small one's text", string(b.told(small)[0].Data), string(small.Data))
	whole := 0
	for _, l := range large {
		known, err := b.ToldBy(b.Context(), l.ID)
		b.must(err)
		if len(known.Data) > 0 {
			whole++
		}
	}
	same(b, "large ones with a text", whole, 2)
}

func lettersGoWithUser(b *bundle) {
	ann := b.user("ann")
	sent, waits := b.letter(ann, "guest@example.org", "sent"), b.letter(ann, "guest@example.org", "uid")
	b.post(sent)
	b.pass(time.Minute)
	b.send()
	b.post(waits)
	b.must(b.DeleteUser(b.Context(), ann.ID))
	b.pass(time.Hour)
	same(b, "taken", b.take(b.Store), nil)
	same(b, "told", b.told(sent), nil)
}
