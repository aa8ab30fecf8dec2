package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/store"
)

// FollowEvery is how often a process checks the settings for changes.
const FollowEvery = 5 * time.Second

// declaredBy is the prefix, in the store, for settings that a server was started with. They override set-server, and
// are removed when a server starts without them.
const declaredBy = "serve "

// ServerSetting is such a setting with its current value.
type ServerSetting struct {
	settings.Setting
	Value string
	From  Origin
	// Changed is when it was set; zero for a default.
	Changed time.Time
}

// Origin is the source of a setting.
type Origin string

// The sources.
const (
	ByDefault Origin = "default"
	byCommand Origin = "set-server"
	byServer  Origin = "the server's environment"
)

// ServerSettings returns all settings in the store.
func (h *App) ServerSettings(ctx context.Context) ([]ServerSetting, error) {
	found, err := h.Store.Settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the server's settings: %w", err)
	}
	said := make(map[string]store.Setting, len(found))
	for _, one := range found {
		said[one.Name] = one
	}
	return console.Each(settings.ServiceRows(), func(s settings.Setting) ServerSetting {
		if one, ok := said[declaredBy+s.Env]; ok {
			return ServerSetting{s, one.Value, byServer, one.Changed}
		}
		if one, ok := said[s.Env]; ok {
			return ServerSetting{s, one.Value, byCommand, one.Changed}
		}
		return ServerSetting{s, s.Fallback, ByDefault, time.Time{}}
	}), nil
}

// Consult applies the settings in the store.
func (h *App) Consult(ctx context.Context) error {
	all, err := h.ServerSettings(ctx)
	if err != nil {
		return err
	}
	var c settings.Config
	for _, s := range all {
		if s.Value == "" {
			continue
		}
		if err := s.Set(&c, s.Value); err != nil {
			return s.Malformed(s.Env+" in the database", s.Value, err)
		}
	}
	h.Follows.Store(&c.Service)
	h.Calendars.SetPolicy(c.Service.Policy)
	return nil
}

// Service returns the current settings.
func (h *App) Service() settings.Service { return *h.Follows.Load() }

// Declare stores the settings that a server was started with, and applies the result.
func (h *App) Declare(ctx context.Context, told map[string]string) error {
	set := make(map[string]string, len(told))
	var forget []string
	for _, s := range settings.ServiceRows() {
		if value, ok := told[s.Env]; ok {
			set[declaredBy+s.Env] = value
		} else {
			forget = append(forget, declaredBy+s.Env)
		}
	}
	if err := h.Store.ChangeSettings(ctx, set, forget); err != nil {
		return fmt.Errorf("storing the server's settings: %w", err)
	}
	return h.Consult(ctx)
}

// Follow applies changes by other processes until ctx ends.
func (h *App) Follow(ctx context.Context, now func() time.Time, every time.Duration, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(calendar.UntilNext(now(), every)):
		}
		before := h.Service()
		if err := h.Consult(ctx); err != nil {
			if ctx.Err() == nil {
				log.WarnContext(ctx, "the server's settings stay as they were", "error", err)
			}
		} else if h.Service() != before {
			log.InfoContext(ctx, "the server's settings were changed")
		}
	}
}

// ChangeService sets some settings, and resets others to their defaults.
func (h *App) ChangeService(ctx context.Context, set map[string]string, forget []string) error {
	all, err := h.ServerSettings(ctx)
	if err != nil {
		return err
	}
	wanted := slices.Concat(slices.Collect(maps.Keys(set)), forget)
	held := slices.DeleteFunc(all, func(s ServerSetting) bool {
		return s.From != byServer || !slices.Contains(wanted, s.Env)
	})
	if len(held) > 0 {
		names := strings.Join(console.Each(held, func(s ServerSetting) string { return s.Env + "=" + s.Value }),
			" and ")
		return fmt.Errorf("the server was started with %s, which takes precedence: change it there and restart the "+
			"server; nothing was changed", names)
	}
	return h.Store.ChangeSettings(ctx, set, forget)
}

// NewUserDefaults returns the defaults of new users, and the names of the ones that were given at the start.
func (h *App) NewUserDefaults(ctx context.Context) (d auth.Defaults, fixed []string, err error) {
	all, err := h.ServerSettings(ctx)
	for _, s := range all {
		if _, ok := settings.NewUserValues(d)[s.Env]; ok && s.From == byServer {
			fixed = append(fixed, s.Env)
		}
	}
	return h.Service().NewUsers, fixed, err
}

// SetNewUserDefaults changes the defaults of new users.
func (h *App) SetNewUserDefaults(ctx context.Context, d auth.Defaults) error {
	if err := d.Validate(); err != nil {
		return err
	}
	set, usual := settings.NewUserValues(d), map[string]string{}
	for _, s := range settings.ServiceRows() {
		usual[s.Env] = s.Fallback
	}
	var forget []string
	for name, value := range set {
		if value == usual[name] {
			forget = append(forget, name)
			delete(set, name)
		}
	}
	if err := h.ChangeService(ctx, set, forget); err != nil {
		return err
	}
	return h.Consult(ctx)
}

// ShownValue is a setting's value for people.
func (s ServerSetting) ShownValue() string {
	if strings.HasPrefix(s.Env, "QUOTA_") {
		return cmp.Or(s.Value, "no limit")
	}
	return cmp.Or(s.Value, "not set")
}
