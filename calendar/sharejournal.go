package calendar

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// offer is what a user was offered, as the journal keeps it where of an object it keeps the
// bytes. The names are stored: they do not change.
type offer struct {
	Access     Access `json:"access"`
	Title      string `json:"title,omitempty"`
	CommonName string `json:"common_name,omitempty"`
}

func offerOf(s Share) offer { return offer{s.Access, s.Title, s.CommonName} }

func (o offer) encode() []byte {
	data, err := json.Marshal(o)
	if err != nil {
		// A number and texts; there is nothing in them that JSON cannot hold.
		panic(fmt.Sprintf("encoding an offer: %v", err))
	}
	return data
}

func decodeOffer(data []byte) (offer, error) {
	var o offer
	if err := json.Unmarshal(data, &o); err != nil {
		return o, fmt.Errorf("reading a share from the journal: %w", err)
	}
	return o, nil
}

// presentOffer is the state of one user's share.
func presentOffer(shares []Share, user UserID) state {
	for _, s := range shares {
		if s.User.ID == user {
			return state{data: offerOf(s).encode()}
		}
	}
	return state{}
}

// seesEntry tells whether a change is the caller's to know: who else has a calendar, its owner
// alone is told.
func (c Caller) seesEntry(cal Calendar, e Entry) bool {
	return e.Whom == "" || e.Whom == c.User.ID || cal.Access == OwnerAccess
}

// visible leaves out the changes that are not the caller's to know.
func (c Caller) visible(cal Calendar, lines iter.Seq2[Line, error]) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for line, err := range lines {
			if (err != nil || c.seesEntry(cal, line.Entry)) && !yield(line, err) {
				return
			}
		}
	}
}

// sortedUsers are those with chosen changes of their shares: see NoticeKeeper for the order.
func (p *undoPlace) sortedUsers() []UserID { return slices.Sorted(maps.Keys(p.whom)) }

// shares takes back to whom the calendar was given, and from whom it was taken. Who gets it back
// may be asked anew.
func (t *undoIn) shares(ctx context.Context) error {
	users := t.place.sortedUsers()
	if len(users) == 0 {
		return nil
	}
	change, err := t.sharing(ctx, t.cal.ID)
	if err != nil {
		return err
	}
	change.undoing = true
	for _, user := range users {
		past, err := t.past(ctx, t.place.ofShare(user))
		if err != nil {
			return err
		}
		g := t.undoing.back(t.place, past, presentOffer(change.shares, user))
		if g.idle() {
			continue
		}
		if err := t.reshare(ctx, change, user, g); err != nil {
			return err
		}
	}
	return nil
}

func (t *undoIn) reshare(ctx context.Context, change *sharing, user UserID, g goal) error {
	if err := t.caller().May(ShareCalendar, t.cal); err != nil {
		return err
	}
	edit := ShareEdit{With: User{ID: user}}
	if g.then.data != nil {
		wanted, err := decodeOffer(g.then.data)
		if err != nil {
			return err
		}
		edit.Access, edit.Title, edit.CommonName = wanted.Access, wanted.Title, wanted.CommonName
	}
	var err error
	if before := change.of(user); before != nil {
		edit.With = before.User
	} else if edit.With, err = t.undoing.user(ctx, user); err != nil {
		return err
	}
	t.undoes = g.undoes
	if _, err := change.edit(ctx, edit); err != nil {
		return err
	}
	t.done("share of " + edit.With.Name)
	return nil
}

// user finds somebody with whom a calendar was shared.
func (s *Service) user(ctx context.Context, id UserID) (User, error) {
	all, err := s.store.Users(ctx)
	if i := slices.IndexFunc(all, func(u User) bool { return u.ID == id }); err == nil && i >= 0 {
		return all[i], nil
	}
	if err == nil {
		err = Errorf(Stale, "", "the user is gone with whom the calendar was shared")
	}
	return User{}, err
}
