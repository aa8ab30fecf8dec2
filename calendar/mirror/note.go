package mirror

import (
	"context"
	"strings"

	"caldav-mcp-server/calendar"
)

// Note is a subscription that a user's app has created and whose feed the server does not fetch.
type Note struct {
	calendar.Calendar
	// Shown is the feed's address in a form without secrets.
	Shown string
}

// Notes returns the caller's notes.
func (m *Mirror) Notes(ctx context.Context, c calendar.Caller) ([]Note, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return nil, err
	}
	return m.notes(ctx, c)
}

// notes is Notes without the check of permissions.
func (m *Mirror) notes(ctx context.Context, c calendar.Caller) ([]Note, error) {
	all, err := m.Store.Calendars(ctx, c.User.ID)
	if err != nil {
		return nil, err
	}
	var notes []Note
	for _, cal := range c.AllSeen(all) {
		if !cal.Subscribed() || cal.Followed() || cal.Owner != c.User.ID {
			continue
		}
		p, url, err := m.noted(ctx, cal)
		if err != nil {
			return nil, err
		}
		if url != "" {
			notes = append(notes, Note{cal, p.Address(Secret{URL: url})})
		}
	}
	return notes, nil
}

// noted returns the feed URL that an app recorded in a calendar, and the provider for such feeds. It is "" if there is
// none.
func (m *Mirror) noted(ctx context.Context, cal calendar.Calendar) (Provider, string, error) {
	p, ok := m.Providers[noteProvider]
	if !ok || p.Noted == nil {
		return p, "", nil
	}
	kept, err := m.Store.DeadProperties(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: cal})
	if err != nil {
		return p, "", err
	}
	url, _ := p.Noted(kept)
	return p, url, nil
}

// noteProvider is the provider for feeds that apps record.
const noteProvider = "ics"

// FollowNote makes the server fetch the feed of a subscription too, with or without its alarms. The app sees its
// subscription unchanged.
func (m *Mirror) FollowNote(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, alarms bool,
) (Linked, calendar.Arrived, error) {
	notes, err := m.Notes(ctx, c)
	if err != nil {
		return Linked{}, calendar.Arrived{}, err
	}
	for _, n := range notes {
		if n.ID != id {
			continue
		}
		_, url, err := m.noted(ctx, n.Calendar)
		if err != nil {
			return Linked{}, calendar.Arrived{}, err
		}
		return m.Link(ctx, c,
			NewAccount{
				Provider: noteProvider, Name: nameOf(n.Name), Secret: Secret{URL: url, Alarms: alarms}, note: id,
			})
	}
	return Linked{}, calendar.Arrived{}, calendar.ErrNoCalendar(string(id))
}

// noteOf returns the caller's subscription to a feed that is being linked. The feed is then shown there, not twice.
func (m *Mirror) noteOf(ctx context.Context, c calendar.Caller, p Provider, s Secret) (calendar.CalendarID, error) {
	if p.Noted == nil {
		return "", nil
	}
	notes, err := m.notes(ctx, c)
	if err != nil {
		return "", err
	}
	for _, n := range notes {
		if _, url, err := m.noted(ctx, n.Calendar); err != nil || sameFeed(url, s.URL) {
			return n.ID, err
		}
	}
	return "", nil
}

// sameFeed reports whether two URLs name the same feed.
func sameFeed(a, b string) bool { return plainFeed(a) == plainFeed(b) }

// plainFeed normalizes a feed URL: webcal becomes https, and the host is in lower case.
func plainFeed(url string) string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(url), "://")
	if !ok {
		return scheme
	}
	if scheme = strings.ToLower(scheme); scheme == "webcal" || scheme == "webcals" {
		scheme = "https"
	}
	end := strings.IndexAny(rest+"/", "/?#")
	at := strings.LastIndex(rest[:end], "@") + 1 // the user name, whose case matters, ends here
	host, path := strings.ToLower(rest[at:end]), rest[end:]
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return scheme + "://" + rest[:at] + host + path
}

// place shows a remote calendar in a subscription, or in a calendar of its own.
func (m *Mirror) place(
	ctx context.Context, c calendar.Caller, a calendar.Account, r Remote, note calendar.CalendarID,
) error {
	if note == "" {
		return m.show(ctx, c, a, r)
	}
	return m.ledger.FillNote(ctx, c,
		calendar.Mirror{Calendar: note, Account: a.ID, Remote: r.ID, RemoteName: nameOf(r.Name)},
		calendar.Origin{From: a.Name})
}

// followNoted updates an account to the feed URL that its app has recorded most recently.
func (m *Mirror) followNoted(ctx context.Context, a calendar.Account) (calendar.Account, error) {
	if a.Provider != noteProvider {
		return a, nil
	}
	mirrors, err := m.Store.Mirrors(ctx, a.ID)
	if err != nil || len(mirrors) != 1 {
		return a, err
	}
	cal, err := m.Store.Calendar(ctx, a.Owner, mirrors[0].Calendar)
	if err != nil || !cal.Followed() {
		return a, err
	}
	_, url, err := m.noted(ctx, cal)
	if err != nil {
		return a, err
	}
	if url == "" {
		return a, Refusef("the app no longer says which feed it follows; the events from the last sync stay here")
	}
	s, err := m.unseal(a)
	if err != nil || sameFeed(s.URL, url) {
		return a, err
	}
	a.Address = m.Providers[noteProvider].Address(Secret{URL: url})
	next := Secret{URL: url, Alarms: s.Alarms, Agreed: m.Now()}
	err = m.once(ctx, a, next, func(held context.Context) error { return m.keep(held, &a, next) })
	return a, err
}

// Renoted syncs a feed at once after its app recorded another URL, even if syncs of the former URL failed. The new URL
// is already stored. So an error here only delays the change, unless the account is paused.
func (m *Mirror) Renoted(ctx context.Context, cal calendar.Calendar) {
	if err := m.renoted(ctx, cal); err != nil {
		m.Logger.WarnContext(ctx, "cannot schedule the sync of a feed whose app recorded another URL", "calendar",
			cal.ID, "error", forLog(err))
	}
}

func (m *Mirror) renoted(ctx context.Context, cal calendar.Calendar) error {
	one, err := m.Store.Mirror(ctx, cal.ID)
	if err != nil {
		return err
	}
	a, err := m.Store.Account(ctx, one.Account)
	if err != nil {
		return err
	}
	_, url, err := m.noted(ctx, cal)
	if err != nil {
		return err
	}
	if s, err := m.unseal(a); err != nil || sameFeed(s.URL, url) {
		return err
	}
	return m.Store.SetAccount(ctx, a.ID, calendar.AccountEdit{}, m.Now())
}

// once makes an account follow a feed, unless its owner already follows it. A lease keeps a user from adding two feeds
// at once.
func (m *Mirror) once(
	ctx context.Context, a calendar.Account, s Secret, follow func(held context.Context) error,
) error {
	held, l, err := m.hold(ctx, feedsOf(a.Owner))
	if err != nil {
		return err
	}
	defer l.release(ctx)
	if err := m.notTwice(held, a, s); err != nil {
		return err
	}
	return follow(held)
}

// notTwice refuses an account if its owner already follows the same feed with another one. Accounts that cannot be
// opened any more, or whose calendar is in the trash, do not count.
func (m *Mirror) notTwice(ctx context.Context, a calendar.Account, s Secret) error {
	all, err := m.Store.Accounts(ctx, a.Owner)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.ID == a.ID || other.Provider != a.Provider {
			continue
		}
		known, err := m.unseal(other)
		if err != nil || !sameFeed(known.URL, s.URL) || known.Username != s.Username {
			continue
		}
		if other.Listed.IsZero() && m.Now().Sub(other.Created) < firstLook {
			return calendar.Errorf(calendar.Exists, "", "this feed is being linked at this moment").
				Advising("list the linked accounts")
		}
		mirrors, err := m.Store.Mirrors(ctx, other.ID)
		if err != nil {
			return err
		}
		for _, one := range mirrors {
			cal, err := m.Store.Calendar(ctx, a.Owner, one.Calendar)
			if err == nil {
				return calendar.Errorf(calendar.Exists, "",
					"you follow this feed already, as the calendar %q; a second one would have all of it twice",
					cal.Name).
					Advising("use that one, or unlink it first")
			}
			if calendar.ReasonOf(err) != calendar.NotFound {
				return err
			}
		}
	}
	return nil
}

// empty removes the source's events from a subscription and leaves the subscription as its app made it. It reports
// whether the mirror is a subscription.
func (m *Mirror) empty(ctx context.Context, c calendar.Caller, one calendar.Mirror) (bool, error) {
	cal, err := m.Store.Calendar(ctx, c.User.ID, one.Calendar)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return false, nil
	}
	if err != nil || !cal.Followed() {
		return false, err
	}
	held, g, err := m.holdAll(ctx, cal.ID)
	if err != nil {
		return true, err
	}
	defer g.release(ctx)
	if one, err = m.Store.Mirror(held, cal.ID); err != nil {
		return true, err
	}
	one.Round, one.Cursor = one.Round+1, ""
	_, err = m.arrive(held, g, cal, calendar.Arrival{Mirror: one, Sweep: true})
	return true, g.why(held, err)
}
