package store

import (
	"context"
	"maps"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// home is where a calendar of somebody's own lies.
type home struct {
	owner calendar.UserID
	at    calendar.Segment
}

// liesOf is where it lies.
func liesOf(own *auth.Stored) home { return home{own.Calendar.Owner, own.Calendar.Segment} }

// Presume implements [auth.Store]. In memory there is a calendar of which nothing has happened since it was read but early changes, and
// what these wrote. What it tells of its owner, as how much they may have, is as of a generation of their credentials.
func (s *Store) Presume(ctx context.Context, user calendar.UserID) bool {
	if s.gates == nil {
		return false
	}
	along := auth.AlongOf(ctx)
	now := s.options.Now()
	there := s.gates.recall(home{user, along.At}, along.Object, now)
	if there == nil || there.Generation != along.Presumed().Generation || len(there.Objects) == 0 && !along.Fresh {
		return false
	}
	along.Answer(user, there.Calendar, now)
	along.AnswerOver(*there)
	return true
}

// recall returns what is known of the calendar that lies somewhere, and of the object at a name there, nil for nothing.
func (g *gates) recall(where home, name calendar.ObjectName, now time.Time) *auth.Stored {
	g.mu.Lock()
	at, refused := g.homes[where], g.refused[where.owner]
	g.mu.Unlock()
	if at == nil || now.Sub(refused) < recalledFor {
		return nil
	}
	there := at.convoy.recall(name, now)
	if there == nil || liesOf(there) != where || there.Calendar.Origin != (calendar.Origin{}) {
		return nil
	}
	return there
}

// doubt has nothing presumed of a user for a minute after the database refused it: it writes each refusal into its log, and whoever is
// logged in could bring that on with every other request, by new names for UIDs that are there.
func (g *gates) doubt(l *load) {
	if l.presumed == nil {
		return
	}
	at := moment(l.changes[0].at)
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.refused, func(_ calendar.UserID, then time.Time) bool { return at.Sub(then) > recalledFor })
	g.refused[l.where.owner] = at
}
