package calendar

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// NoticeName is the last part of a notice's address.
type NoticeName string

// Notice is a word to a user about a share, as a Store keeps it.
type Notice struct {
	Name NoticeName
	// Version is that of its box, of its latest change.
	Version Version
	Created time.Time
	// Waits tells that it is about an invitation that waits for an answer.
	Waits bool
	// Gone tells that there is none of that name any more; Data is empty then.
	Gone bool
	Data []byte
}

// NoticeBox is all that a user was told, with what is gone by now.
type NoticeBox struct {
	// Version is that of the latest change, Pruned of the latest removal that was forgotten.
	Version, Pruned Version
	// Notices are by name.
	Notices []Notice
}

// NoticeReader is the part of a Store that knows what users were told.
type NoticeReader interface {
	// Notices returns what a user was told; the zero box where that is nothing.
	Notices(ctx context.Context, user UserID) (NoticeBox, error)
}

// NoticeKeeper is the part of a Tx that tells users something. Whoever locks several boxes does
// so in the order of their users' ids, and calendars before them.
type NoticeKeeper interface {
	// PutNotice tells a user something, in place of what was told under that name. The store sets
	// Version.
	PutNotice(ctx context.Context, user UserID, n Notice) error
	// DropNotice takes it back, if it is there.
	DropNotice(ctx context.Context, user UserID, name NoticeName) error
}

// Person is who a notification is from or about.
type Person struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	Email string `json:"email,omitempty"`
}

// PersonOf is what others are told of a user.
func PersonOf(u User) Person { return Person{u.Name, u.Title(), u.Email} }

// Notification is a notice, understood: of an invitation to its sharee, or of a reply to its
// owner. The names in JSON are stored: they do not change.
type Notification struct {
	Name    NoticeName `json:"-"`
	Version Version    `json:"-"`
	Created time.Time  `json:"-"`
	ETag    ETag       `json:"-"`

	// Reply tells that the sharee has answered; else it is the sharee who is told.
	Reply      bool         `json:"reply,omitempty"`
	Invitation InvitationID `json:"invitation"`
	Calendar   CalendarID   `json:"calendar"`
	// Owner is whose calendar it is, Segment its address in the owner's home.
	Owner   Person  `json:"owner"`
	Segment Segment `json:"segment"`
	Sharee  Person  `json:"sharee"`
	Access  Access  `json:"access"`
	// Status is what the share came to be.
	Status ShareStatus `json:"status"`
	// Title is what the owner calls the calendar towards the sharee or, in a reply, what the
	// sharee calls it.
	Title string `json:"title,omitempty"`
	Kinds Kinds  `json:"kinds,omitempty"`
}

// Notices are the names under which the sharee and the owner are told of a share.
func (s Share) Notices() (sharees, owners NoticeName) {
	return s.Invitation().notice(), s.Invitation().reply()
}

func (id InvitationID) notice() NoticeName { return NoticeName(id + ".xml") }
func (id InvitationID) reply() NoticeName  { return NoticeName(id + "-reply.xml") }

// encode makes a notice of it.
func (n Notification) encode(now time.Time) Notice {
	data, err := json.Marshal(n)
	if err != nil {
		// Texts and numbers; there is nothing in them that JSON cannot hold.
		panic(fmt.Sprintf("encoding a notification: %v", err))
	}
	return Notice{Name: n.Name, Created: now, Waits: n.Status == SharePending, Data: data}
}

// decode reads a notice back.
func (n Notice) decode() (Notification, error) {
	var out Notification
	if err := json.Unmarshal(n.Data, &out); err != nil {
		return out, fmt.Errorf("reading the notice %s: %w", n.Name, err)
	}
	out.Name, out.Version, out.Created = n.Name, n.Version, n.Created
	out.ETag = ETagOf(append(n.Created.UTC().AppendFormat(nil, time.RFC3339), n.Data...))
	return out, nil
}

// about is what there is to say of a share to either side.
func (s Share) about(cal Calendar) Notification {
	return Notification{
		Invitation: s.Invitation(), Calendar: cal.ID, Owner: Person{Name: cal.OwnerName}, Segment: cal.Segment,
		Sharee: PersonOf(s.User), Access: s.Access, Status: s.Status, Kinds: cal.Kinds,
	}
}

// notify tells a sharee what they are offered. Of busy times there is nothing to tell: no
// program can show them.
func (w *work) notify(cal Calendar, share Share) {
	n := share.about(cal)
	n.Name, n.Owner, n.Title = n.Invitation.notice(), PersonOf(w.caller.User), cmp.Or(share.Title, cal.Name)
	if share.Access == FreeBusyAccess {
		w.recall(share.User.ID, n.Name)
		return
	}
	w.tell(share.User.ID, n)
}

// notifyGone tells a sharee that what they had is no longer offered. Who has not accepted loses
// nothing, and need not hear of it.
func (w *work) notifyGone(cal Calendar, share Share) {
	if share.Status != ShareAccepted {
		w.recall(share.User.ID, share.Invitation().notice())
		return
	}
	share.Status = ShareWithdrawn
	w.notify(cal, share)
}

// notifyOwner tells the owner what the sharee, who is the caller, answered. The invitation is
// dealt with.
func (w *work) notifyOwner(cal Calendar, share Share, r Reply) {
	n := share.about(cal)
	n.Name, n.Reply, n.Title = n.Invitation.reply(), true, r.Name
	w.recall(share.User.ID, n.Invitation.notice())
	w.tell(cal.Owner, n)
}

// announce tells all sharees of a calendar of the caller's that it is there again, or that it is
// not.
func (w *work) announce(ctx context.Context, cal Calendar, there bool) error {
	shares, err := w.Tx.Shares(ctx, cal.ID)
	for _, share := range shares {
		switch {
		case !there:
			w.notifyGone(cal, share)
		case share.Status != ShareDeclined:
			w.notify(cal, share)
		}
	}
	return err
}

// Notifications returns what the caller was told, the latest change last.
func (s *Service) Notifications(ctx context.Context, c Caller) ([]Notification, error) {
	changes, err := s.NotificationChanges(ctx, c, SyncToken{})
	return changes.There, err
}

// Notification returns one of them.
func (s *Service) Notification(ctx context.Context, c Caller, name NoticeName) (Notification, error) {
	all, err := s.Notifications(ctx, c)
	if i := slices.IndexFunc(all, func(n Notification) bool { return n.Name == name }); err == nil && i >= 0 {
		return all[i], nil
	}
	if err == nil {
		err = Errorf(NotFound, "", "there is no notification %q", string(name))
	}
	return Notification{}, err
}

// Dismiss removes a notification. An invitation that waits for an answer goes on to wait. What
// was removed already, as an invitation is with its answer, may be removed by its reader still.
func (s *Service) Dismiss(ctx context.Context, c Caller, name NoticeName, when Precondition) error {
	if err := c.MayOwn(AnswerInvitation); err != nil {
		return err
	}
	n, err := s.Notification(ctx, c, name)
	if err != nil {
		if gone, failed := s.dismissed(ctx, c, name); gone || failed != nil {
			return failed
		}
		return err
	}
	if err := when.Check(n.ETag); err != nil {
		return err
	}
	return s.forget(ctx, c, name)
}

// forget takes back what the caller was told.
func (s *Service) forget(ctx context.Context, c Caller, name NoticeName) error {
	return s.change(ctx, c, func(w *work) error {
		w.recall(c.User.ID, name)
		return nil
	})
}

// dismissed tells whether there was a notification of that name.
func (s *Service) dismissed(ctx context.Context, c Caller, name NoticeName) (bool, error) {
	box, err := s.store.Notices(ctx, c.User.ID)
	return slices.ContainsFunc(box.Notices, func(n Notice) bool { return n.Name == name && n.Gone }), err
}

// NotificationChanges is what changed in what a user was told.
type NotificationChanges struct {
	// Now is the token for the notifications as they are.
	Now SyncToken
	// There are those that are new or changed, Gone the removed ones; each by Version.
	There []Notification
	Gone  []Notice
}

// NotificationChanges tells what changed among the caller's notifications since a token; the
// zero token yields all that there are.
func (s *Service) NotificationChanges(ctx context.Context, c Caller, since SyncToken) (NotificationChanges, error) {
	var changes NotificationChanges
	if err := c.MayOwn(ReadObjects); err != nil {
		return changes, err
	}
	epoch, err := s.store.Epoch(ctx)
	if err != nil {
		return changes, err
	}
	box, err := s.store.Notices(ctx, c.User.ID)
	if err != nil {
		return changes, err
	}
	// A home's token begins with the user's id as well.
	now := Calendar{Epoch: epoch, ID: CalendarID("notices-" + c.User.ID), Version: box.Version, Pruned: box.Pruned}
	if since != (SyncToken{}) {
		if err := since.check(now); err != nil {
			return changes, err
		}
	}
	changes.Now = now.SyncToken()
	slices.SortFunc(box.Notices, func(a, b Notice) int { return cmp.Compare(a.Version, b.Version) })
	for _, n := range box.Notices {
		switch {
		case n.Version <= since.Version:
		case n.Gone && since != (SyncToken{}):
			changes.Gone = append(changes.Gone, n)
		case !n.Gone:
			read, err := n.decode()
			if err != nil {
				return changes, err
			}
			changes.There = append(changes.There, read)
		}
	}
	return changes, nil
}
