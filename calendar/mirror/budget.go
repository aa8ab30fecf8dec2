package mirror

import (
	"strconv"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// day is the period of a budget, in UTC.
	day = 24 * time.Hour
	// entryCost is the work of storing, changing or deleting one entry, in bytes of a budget: its text in the database,
	// its line and text in the journal, and their processor time.
	entryCost = 5 << 10
	// churnLeast is the number of entries that a feed must have for its new entries to slow it down.
	churnLeast = 20
)

// budgets counts the work of feeds and accounts in this process. A restart resets it: a user cannot cause one.
type budgets struct {
	mu sync.Mutex
	// day is the day that used is of, by user.
	day  int64
	used map[calendar.UserID]int64
	// churns counts the syncs in a row with all entries of a feed new.
	churns map[calendar.AccountID]int
	total  Work
}

// Work is the work of all feeds and accounts since the start.
type Work struct {
	// Bytes were read from feeds, Entries were stored, changed, deleted or refused.
	Bytes, Entries int64
	// Postponed counts the syncs that waited for the next day, because their user's budget was used up.
	Postponed int64
}

// Work returns the work of all feeds and accounts since the start.
func (b *budgets) Work() Work {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}

// spend counts the work of a sync. A feed lists all its entries if one has changed. An account lists only its
// changed entries, and each of them is fetched.
func (b *budgets) spend(owner calendar.UserID, now time.Time, done looked, feed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	entries := int64(done.Created + done.Modified + done.Deleted + done.Refused)
	if !feed {
		entries = max(entries, int64(done.listed+done.Deleted))
	}
	b.today(now)[owner] += done.bytes + entries*entryCost
	b.total.Bytes, b.total.Entries = b.total.Bytes+done.bytes, b.total.Entries+entries
}

// spent reports whether a user has used up a budget of bytes; 0 means no limit.
func (b *budgets) spent(owner calendar.UserID, now time.Time, budget int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if budget == 0 || b.today(now)[owner] < budget {
		return false
	}
	b.total.Postponed++
	return true
}

// today returns what users have used today.
func (b *budgets) today(now time.Time) map[calendar.UserID]int64 {
	if at := now.Unix() / int64(day/time.Second); b.used == nil || at != b.day {
		b.day, b.used = at, map[calendar.UserID]int64{}
	}
	return b.used
}

// churn counts a sync of a feed. It returns the number of syncs in a row with only new entries: the feed makes
// new UIDs each time.
func (b *budgets) churn(id calendar.AccountID, done looked) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if done.listed == 0 {
		return b.churns[id] // it is unchanged
	}
	if done.Created < churnLeast || done.Created*10 < done.listed*9 || (done.Deleted+done.Missing)*10 < done.Created*9 {
		delete(b.churns, id)
		return 0
	}
	if b.churns == nil {
		b.churns = map[calendar.AccountID]int{}
	}
	b.churns[id]++
	return b.churns[id]
}

// errSpent is the error for an account of a user whose budget is used up. The account shows it until the next day.
var errSpent = calendar.Errorf(calendar.TooLarge, "",
	"your linked calendars have caused as much work today as they may, so they are fetched again tomorrow (UTC)").
	Advising("unlink large ones and any that change completely each time, or ask the administrator for a higher " +
		"FEED_BUDGET")

// postpone makes an account wait for the next day.
func (m *Mirror) postpone(a *calendar.Account) {
	now := m.Now()
	a.Error = errSpent.Message
	a.Due = now.Truncate(day).Add(day + jittered(time.Hour, string(a.ID)+strconv.FormatInt(now.Unix(), 10)))
}

// slowDown doubles the interval of a feed after each sync with only new entries, up to a day.
func (m *Mirror) slowDown(a *calendar.Account, churns int) {
	if churns < 2 {
		return
	}
	now := m.Now()
	a.Due = now.Add(max(min(a.Due.Sub(now)<<min(churns-1, 10), day), a.Due.Sub(now)))
	a.Error = "all entries are new at each fetch, because the feed gives them new UIDs; so it is fetched less often, " +
		"down to once a day"
}
