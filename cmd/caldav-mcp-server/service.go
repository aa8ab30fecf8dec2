package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/store"
)

// followEvery is how often a process checks the settings for changes.
const followEvery = 5 * time.Second

// declaredBy is the prefix, in the store, for settings that a server was started with. They override set-server, and
// are removed when a server starts without them.
const declaredBy = "serve "

// serverSetting is such a setting with its current value.
type serverSetting struct {
	settings.Setting
	value string
	from  origin
	// changed is when it was set; zero for a default.
	changed time.Time
}

// origin is the source of a setting.
type origin string

const (
	byDefault origin = "default"
	byCommand origin = "set-server"
	byServer  origin = "the server's environment"
)

// serverSettings returns all settings in the store.
func (h *house) serverSettings(ctx context.Context) ([]serverSetting, error) {
	found, err := h.store.Settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the server's settings: %w", err)
	}
	said := make(map[string]store.Setting, len(found))
	for _, one := range found {
		said[one.Name] = one
	}
	return console.Each(settings.ServiceRows(), func(s settings.Setting) serverSetting {
		if one, ok := said[declaredBy+s.Env]; ok {
			return serverSetting{s, one.Value, byServer, one.Changed}
		}
		if one, ok := said[s.Env]; ok {
			return serverSetting{s, one.Value, byCommand, one.Changed}
		}
		return serverSetting{s, s.Fallback, byDefault, time.Time{}}
	}), nil
}

// consult applies the settings in the store.
func (h *house) consult(ctx context.Context) error {
	all, err := h.serverSettings(ctx)
	if err != nil {
		return err
	}
	var c settings.Config
	for _, s := range all {
		if s.value == "" {
			continue
		}
		if err := s.Set(&c, s.value); err != nil {
			return s.Malformed(s.Env+" in the database", s.value, err)
		}
	}
	h.follows.Store(&c.Service)
	h.calendars.SetPolicy(c.Service.Policy)
	return nil
}

// service returns the current settings.
func (h *house) service() settings.Service { return *h.follows.Load() }

// declare stores the settings that a server was started with, and applies the result.
func (h *house) declare(ctx context.Context, told map[string]string) error {
	set := make(map[string]string, len(told))
	var forget []string
	for _, s := range settings.ServiceRows() {
		if value, ok := told[s.Env]; ok {
			set[declaredBy+s.Env] = value
		} else {
			forget = append(forget, declaredBy+s.Env)
		}
	}
	if err := h.store.ChangeSettings(ctx, set, forget); err != nil {
		return fmt.Errorf("storing the server's settings: %w", err)
	}
	return h.consult(ctx)
}

// follow applies changes by other processes until ctx ends.
func (h *house) follow(ctx context.Context, every time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		before := h.service()
		if err := h.consult(ctx); err != nil {
			if ctx.Err() == nil {
				log.WarnContext(ctx, "the server's settings stay as they were", "error", err)
			}
		} else if h.service() != before {
			log.InfoContext(ctx, "the server's settings were changed")
		}
	}
}

// changeService sets some settings, and resets others to their defaults.
func (h *house) changeService(ctx context.Context, set map[string]string, forget []string) error {
	all, err := h.serverSettings(ctx)
	if err != nil {
		return err
	}
	wanted := slices.Concat(slices.Collect(maps.Keys(set)), forget)
	held := slices.DeleteFunc(all, func(s serverSetting) bool { return s.from != byServer || !slices.Contains(wanted, s.Env) })
	if len(held) > 0 {
		names := strings.Join(console.Each(held, func(s serverSetting) string { return s.Env + "=" + s.value }), " and ")
		return fmt.Errorf("the server was started with %s, which takes precedence: change it there and restart the server; nothing was changed", names)
	}
	return h.store.ChangeSettings(ctx, set, forget)
}

// shownValue is a setting's value for people.
func (s serverSetting) shownValue() string { return cmp.Or(s.value, "no limit") }
