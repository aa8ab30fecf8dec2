package calendar

import (
	"context"

	"caldav-mcp-server/calendar/edit"
)

// Create makes an event or a task. Its UID is of our making, unless the draft has one of a
// [Service.BeginAttempt].
func (s *Service) Create(ctx context.Context, c Caller, cal Calendar, d edit.Draft) (Saved, error) {
	if err := c.May(WriteObjects, cal); err != nil {
		return Saved{}, err
	}
	if d.UID == "" {
		d.UID = s.newUID()
	}
	doc, err := s.editor(cal).New(ctx, d)
	if err != nil {
		return Saved{}, editError(err)
	}
	return s.save(ctx, c, cal, Draft{Name: nameFor(d.UID), Data: doc.Bytes(), When: Precondition{NoneMatchAny: true}})
}

func (s *Service) newUID() string { return s.newID() + "@caldav-server" }

// nameFor is the address of an object that we make.
func nameFor(uid string) ObjectName { return ObjectName(uid + ".ics") }
