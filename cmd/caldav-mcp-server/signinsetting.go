package main

import (
	"errors"
	"net/url"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// signInConfig is the identity provider for signing in to the web pages.
type signInConfig struct {
	issuer, clientID, clientSecret string
}

// signInRows are the settings of signInConfig.
func signInRows() []setting {
	return []setting{
		{
			env: "OIDC_ISSUER", placeholder: "URL", groups: serveSettings,
			about: "issuer URL of an OpenID Connect provider for signing in, such as https://id.example.org", set: setIssuer,
		},
		{
			env: "OIDC_CLIENT_ID", placeholder: "ID", groups: serveSettings, about: "client id of this server there",
			set: func(c *config, value string) error { c.signIn.clientID = value; return nil },
		},
		{
			env: "OIDC_CLIENT_SECRET", placeholder: "SECRET", groups: serveSettings, secret: true, hidden: true,
			about: "client secret of this server there",
			set:   func(c *config, value string) error { c.signIn.clientSecret = value; return nil },
		},
		{
			env: "OIDC_CREATE_USERS", placeholder: "BOOL", fallback: "false", groups: serviceSettings,
			about: "true creates an account for each new user of that provider",
			set:   setSwitch(func(c *config) *bool { return &c.service.createUsers }),
		},
	}
}

func setIssuer(c *config, value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return errors.New("is not an address such as https://id.example.org")
	}
	c.signIn.issuer = value
	return nil
}

// check refuses incomplete settings. creating is set if unknown users of the identity provider get an account.
func (c signInConfig) check(creating bool) error {
	if (c.issuer == "") != (c.clientID == "") {
		return console.WrongUsage("OIDC_ISSUER and OIDC_CLIENT_ID must be set together: one of them is not set")
	}
	if c.issuer == "" && (c.clientSecret != "" || creating) {
		return console.WrongUsage("OIDC_CLIENT_SECRET and OIDC_CREATE_USERS need OIDC_ISSUER, which is not set")
	}
	return nil
}
