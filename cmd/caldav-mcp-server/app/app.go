// Package app opens the store and the services on it, as every command and the server use them.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/intake"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/server"
	"caldav-mcp-server/store"
	"caldav-mcp-server/trace"
)

// App holds the open store and the services on top of it.
type App struct {
	Store     *store.Store
	Auth      *auth.Service
	OAuth     *oauth.Service
	Calendars *service.Service
	Intake    *intake.Intake
	// Serves is set in the server. Otherwise the journal names the command line for changes by the app.
	Serves bool
	// Follows holds the service settings as last read from the store.
	Follows atomic.Pointer[settings.Service]
	// Pruned is when the journal was last pruned, Unpruned counts the failures since.
	Pruned, Unpruned atomic.Int64
}

const (
	// CommandWait is how long a command waits for an unavailable database. It is short, because a user waits too.
	CommandWait = 5 * time.Second
	// ServeWait is how long serve waits. The database may start at the same time.
	ServeWait = 2 * time.Minute
)

// Open opens the store and the services. The tables may not exist yet.
func Open(ctx context.Context, p *console.Console, c settings.Config, o store.Options) (*App, error) {
	url, err := c.Database()
	if err != nil {
		return nil, err
	}
	o.MaxConns, o.Now, o.Replica = c.MaxConns, p.Now, c.SecondURL
	s, err := store.Open(ctx, url, o)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	p.Database = s.Place()
	room := allow(allowedMemory(os.DirFS("/")))
	h := &App{
		Store: s,
		Auth: auth.New(auth.Config{
			Store: s, Now: p.Now, NewID: p.NewID, Logger: o.Logger,
			Hasher: auth.Argon2id{Cost: auth.DefaultCost()}, Limits: room.logins, NoBasicPasswords: c.SignIn.Only,
		}),
		OAuth: newOAuth(p, c, s, cmp.Or(o.Logger, slog.New(slog.DiscardHandler))),
		Calendars: service.New(service.Config{
			Store: s, Limits: calendar.DefaultLimits(), Now: p.Now, NewID: p.NewID, Home: c.CalDAVURL(),
			Policy: c.Service.Policy, Mailed: c.Mail.Sends(), Providers: providers(p, c), Sealer: sealerOf(c),
			Logger: o.Logger, Sendable: NewMessages(p, c).Sendable,
			Changed: func(ctx context.Context, id calendar.ChangeID) { server.RecordOf(ctx).Changed(id.String()) },
			Task:    trace.Task, ImageBytes: room.images, AnswerBytes: room.answers,
		}),
	}
	h.Intake = intake.New(intake.Config{
		Store: s, Service: h.Calendars, Now: p.Now, NewID: p.NewID,
		Logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
	})
	h.Follows.Store(&c.Service)
	return h, nil
}

// noDatabase is the advice of a command that creates no database and found none.
const noDatabase = "does the command have the server's DATABASE_URL or DATA_DIR? serve and create-user create a new " +
	"database"

// With opens the store for a command, and closes it afterwards. It creates the tables in an empty database only if
// mayMake is set. A command without the server's settings would otherwise write to a database that no server uses.
// Outdated tables are not migrated, because a running server may still use them.
func With(ctx context.Context, p *console.Console, c settings.Config, mayMake bool, work func(*App) error) (err error) {
	h, err := Open(ctx, p, c, store.Options{
		Existing: !mayMake, Wait: CommandWait,
		Logger: p.Logger(slog.LevelWarn, false),
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", err, noDatabase)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Store.Close()) }()
	if p.Watched() {
		p.Say("database: %s\n", p.Database)
	}
	schema, err := h.Store.Schema(ctx)
	if err != nil {
		return fmt.Errorf("checking the database's tables: %w", err)
	}
	if schema.Behind() {
		return fmt.Errorf("the database has the tables of an older version: "+
			"restart the server with this version, or run %s migrate",
			console.Program)
	}
	if schema.Current == 0 && !mayMake {
		return fmt.Errorf("the database is empty: %s", noDatabase)
	}
	if !schema.Ready() {
		if err := h.Store.Migrate(ctx); err != nil {
			return fmt.Errorf("creating the tables: %w", err)
		}
	}
	if err := h.Consult(ctx); err != nil {
		return err
	}
	return work(h)
}

// Caller returns a user as a caller from the command line.
func Caller(u calendar.User) calendar.Caller {
	return calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "command line"}
}

// caller returns a user as a caller whom the app acts for.
func (h *App) caller(u calendar.User) calendar.Caller {
	c := Caller(u)
	if h.Serves {
		c.Agent = ""
	}
	return c
}

// OwnCalendars returns the calendars that a user owns, without subscriptions, which hold no objects.
func (h *App) OwnCalendars(ctx context.Context, u calendar.User) ([]calendar.Calendar, error) {
	all, err := h.Calendars.Calendars(ctx, Caller(u))
	return slices.DeleteFunc(all, IsOthers), err
}

// IsOthers reports whether another user owns a calendar.
func IsOthers(cal calendar.Calendar) bool { return cal.Access != calendar.OwnerAccess }

// ListCalendars returns the calendars that a user sees or, without a user, all calendars by owner. It includes
// subscriptions.
func (h *App) ListCalendars(ctx context.Context, user string) ([]calendar.Calendar, error) {
	if user != "" {
		u, err := h.Auth.User(ctx, user)
		if err != nil {
			return nil, err
		}
		return h.Calendars.CalendarsInHome(ctx, Caller(u))
	}
	users, err := h.Auth.Users(ctx)
	if err != nil {
		return nil, err
	}
	var all []calendar.Calendar
	for _, u := range users {
		theirs, err := h.Calendars.CalendarsInHome(ctx, Caller(u))
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(theirs, IsOthers)...)
	}
	return all, nil
}

// FindCalendar finds a calendar by its id, its address, or a unique name.
func (h *App) FindCalendar(ctx context.Context, u calendar.User, word string) (calendar.Calendar, error) {
	all, err := h.Calendars.Calendars(ctx, Caller(u))
	if err != nil {
		return calendar.Calendar{}, err
	}
	return Pick(u, all, word)
}

// Pick finds a calendar by id, address or name. A user's own calendar takes precedence over a shared one of the same
// name. Otherwise a new share could break commands that worked before.
func Pick(u calendar.User, all []calendar.Calendar, word string) (calendar.Calendar, error) {
	var own, others []calendar.Calendar
	for _, cal := range all {
		switch {
		case string(cal.ID) == word, string(cal.Address()) == word:
			return cal, nil
		case len(word) == console.BriefLength && console.BriefID(cal.ID) == word:
			others = append(others, cal) // the name of an own calendar takes precedence
		case !isCalled(cal, word):
		case IsOthers(cal):
			others = append(others, cal)
		default:
			own = append(own, cal)
		}
	}
	named := own
	if len(own) == 0 {
		named = others
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return calendar.Calendar{}, fmt.Errorf("%s has no calendar %q: there are %s", u.Name, word, NameAll(all))
	}
	return calendar.Calendar{},
		fmt.Errorf("%s has several calendars %q; give the address or the id: %s", u.Name, word, NameAll(named))
}

// isCalled reports whether a word is a calendar's name. For a shared calendar, the owner's name for it counts too.
func isCalled(cal calendar.Calendar, word string) bool {
	if strings.EqualFold(cal.Name, word) {
		return true
	}
	shared := cal
	shared.Name = word
	return IsOthers(cal) && strings.EqualFold(cal.Name, shared.ForSharees().Name)
}

// NameAll lists calendars with their addresses, because names may be ambiguous.
func NameAll(all []calendar.Calendar) string {
	if len(all) == 0 {
		return "none"
	}
	words := console.Each(all, func(c calendar.Calendar) string {
		return fmt.Sprintf("%q of %s (address %s, id %s)", console.Shown(c.Name), c.OwnerName, c.Address(), c.ID)
	})
	return strings.Join(words, ", ")
}
