package main

import (
	"strings"
)

// linkConfig holds the server's registrations at account providers.
type linkConfig struct {
	googleID, googleSecret                          string
	microsoftID, microsoftSecret, microsoftTenantID string
	gmail                                           bool
}

// linkRows are the settings of linkConfig.
func linkRows() []setting {
	text := func(field func(*config) *string) func(*config, string) error {
		return func(c *config, value string) error {
			*field(c) = strings.TrimSpace(value)
			return nil
		}
	}
	const groups = serveSettings | linkSettings
	return []setting{
		{
			env: "GOOGLE_CLIENT_ID", placeholder: "ID", groups: groups, about: "client id of this server at Google; it enables linking Google accounts",
			set: text(func(c *config) *string { return &c.linked.googleID }),
		},
		{
			env: "GOOGLE_CLIENT_SECRET", placeholder: "SECRET", groups: groups, secret: true, hidden: true,
			about: "client secret of this server at Google", set: text(func(c *config) *string { return &c.linked.googleSecret }),
		},
		{
			env: "GMAIL", placeholder: "BOOL", fallback: "false", groups: groups,
			about: "true lets users link the mail of Gmail accounts, for assistants to read; it needs GOOGLE_CLIENT_ID",
			set:   setSwitch(func(c *config) *bool { return &c.linked.gmail }),
		},
		{
			env: "MICROSOFT_CLIENT_ID", placeholder: "ID", groups: groups, about: "client id of this server at Microsoft; it enables linking Microsoft accounts",
			set: text(func(c *config) *string { return &c.linked.microsoftID }),
		},
		{
			env: "MICROSOFT_CLIENT_SECRET", placeholder: "SECRET", groups: groups, secret: true, hidden: true,
			about: "client secret of this server at Microsoft; not needed if it is registered as a public client",
			set:   text(func(c *config) *string { return &c.linked.microsoftSecret }),
		},
		{
			env: "MICROSOFT_TENANT", placeholder: "ID", fallback: "common", groups: groups,
			about: "the Microsoft accounts that can be linked: a tenant id, organizations, consumers, or common for all",
			set:   text(func(c *config) *string { return &c.linked.microsoftTenantID }),
		},
	}
}
