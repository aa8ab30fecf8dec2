package caldav

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// box is a collection of items that the server adds: a user's notifications, or the messages in their inbox.
type box[T calendar.BoxItem] struct {
	changes func(*service.Service, context.Context, calendar.Caller, calendar.SyncToken) (calendar.BoxChanges[T], error)
	// state returns the current sync token of the box.
	state func(*service.Service, context.Context, calendar.Caller) (calendar.SyncToken, error)
	// member returns the resource for an item.
	member func(in *resource, item T) *resource
}

// in makes a node such a box.
func (b box[T]) in(n *node) { n.members, n.token, n.sync = b.members, b.token, b.sync }

// members yields the items of the box. A caller who may not read them gets none instead of an error, so that a
// listing of the surrounding collections still works.
func (b box[T]) members(r *resource) iter.Seq2[*resource, error] {
	return func(yield func(*resource, error) bool) {
		all, err := b.changes(r.x.Service, r.x.R.Context(), r.x.caller, calendar.SyncToken{})
		if err != nil {
			if calendar.ReasonOf(err) != calendar.Forbidden {
				yield(nil, err)
			}
			return
		}
		for _, item := range all.Items {
			if !yield(b.member(r, item), nil) {
				return
			}
		}
	}
}

func (b box[T]) token(r *resource) (string, error) {
	now, err := b.state(r.x.Service, r.x.R.Context(), r.x.caller)
	return now.String(), err
}

// sync reports the items that were added, changed or removed.
func (b box[T]) sync(x *request, r *resource, p plan, since calendar.SyncToken, limit int, _ bool) error {
	changes, err := b.changes(x.Service, x.R.Context(), x.caller, since)
	if err != nil {
		return err
	}
	list := make([]listedChange, len(changes.Items))
	for i, item := range changes.Items {
		list[i].resource = b.member(r, item)
		list[i].version, list[i].gone = item.Latest()
	}
	return syncList(x, p, list, since, changes.Now, limit)
}

// takeOut answers DELETE of an item in a box.
func takeOut[Name any](
	x *request, name Name, remove func(context.Context, calendar.Caller, Name, calendar.Precondition) error,
) error {
	when, err := x.precondition()
	if err != nil {
		return err
	}
	if err := remove(x.R.Context(), x.caller, name, when); err != nil {
		return err
	}
	return x.Done(false)
}
