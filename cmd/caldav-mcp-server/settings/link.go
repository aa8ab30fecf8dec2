package settings

import (
	"strings"
)

// Link holds the server's registrations at account providers.
type Link struct {
	GoogleID, GoogleSecret                          string
	MicrosoftID, MicrosoftSecret, MicrosoftTenantID string
	Gmail                                           bool
}

// linkRows are the settings of Link.
func linkRows() []Setting {
	text := func(field func(*Config) *string) func(*Config, string) error {
		return func(c *Config, value string) error {
			*field(c) = strings.TrimSpace(value)
			return nil
		}
	}
	const groups = ServeGroup | LinkGroup
	return []Setting{
		{
			Env: "GOOGLE_CLIENT_ID", Placeholder: "ID", Groups: groups,
			About: "client id of this server at Google; it enables linking Google accounts",
			Set:   text(func(c *Config) *string { return &c.Linked.GoogleID }),
		},
		{
			Env: "GOOGLE_CLIENT_SECRET", Placeholder: "SECRET", Groups: groups, secret: true, Hidden: true,
			About: "client secret of this server at Google", Set: text(func(c *Config) *string {
				return &c.Linked.GoogleSecret
			}),
		},
		{
			Env: "GMAIL", Placeholder: "BOOL", Fallback: "false", Groups: groups,
			About: "true lets users link the mail of Gmail accounts, for assistants to read; it needs GOOGLE_CLIENT_ID",
			Set:   setSwitch(func(c *Config) *bool { return &c.Linked.Gmail }),
		},
		{
			Env: "MICROSOFT_CLIENT_ID", Placeholder: "ID", Groups: groups,
			About: "client id of this server at Microsoft; it enables linking Microsoft accounts",
			Set:   text(func(c *Config) *string { return &c.Linked.MicrosoftID }),
		},
		{
			Env: "MICROSOFT_CLIENT_SECRET", Placeholder: "SECRET", Groups: groups, secret: true, Hidden: true,
			About: "client secret of this server at Microsoft; not needed if it is registered as a public client",
			Set:   text(func(c *Config) *string { return &c.Linked.MicrosoftSecret }),
		},
		{
			Env: "MICROSOFT_TENANT", Placeholder: "ID", Fallback: "common", Groups: groups,
			About: "the Microsoft accounts that can be linked: a tenant id, organizations, consumers, or common for " +
				"all",
			Set: text(func(c *Config) *string { return &c.Linked.MicrosoftTenantID }),
		},
	}
}
