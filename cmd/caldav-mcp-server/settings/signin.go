package settings

import (
	"errors"
	"net/url"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// SignIn is the identity provider for signing in to the web pages.
type SignIn struct {
	Issuer, ClientID, ClientSecret string
}

// signInRows are the settings of SignIn.
func signInRows() []Setting {
	return []Setting{
		{
			Env: "OIDC_ISSUER", Placeholder: "URL", Groups: ServeGroup,
			About: "issuer URL of an OpenID Connect provider for signing in, such as https://id.example.org",
			Set:   setIssuer,
		},
		{
			Env: "OIDC_CLIENT_ID", Placeholder: "ID", Groups: ServeGroup, About: "client id of this server there",
			Set: func(c *Config, value string) error { c.SignIn.ClientID = value; return nil },
		},
		{
			Env: "OIDC_CLIENT_SECRET", Placeholder: "SECRET", Groups: ServeGroup, secret: true, Hidden: true,
			About: "client secret of this server there",
			Set:   func(c *Config, value string) error { c.SignIn.ClientSecret = value; return nil },
		},
		{
			Env: "OIDC_CREATE_USERS", Placeholder: "BOOL", Fallback: "false", Groups: ServiceGroup,
			About: "true creates an account for each new user of that provider",
			Set:   setSwitch(func(c *Config) *bool { return &c.Service.CreateUsers }),
		},
	}
}

func setIssuer(c *Config, value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !IsLoopback(u.Hostname())) {
		return errors.New("is not an address such as https://id.example.org")
	}
	c.SignIn.Issuer = value
	return nil
}

// check refuses incomplete settings. creating is set if unknown users of the identity provider get an account.
func (c SignIn) check(creating bool) error {
	if (c.Issuer == "") != (c.ClientID == "") {
		return console.WrongUsage("OIDC_ISSUER and OIDC_CLIENT_ID must be set together: one of them is not set")
	}
	if c.Issuer == "" && (c.ClientSecret != "" || creating) {
		return console.WrongUsage("OIDC_CLIENT_SECRET and OIDC_CREATE_USERS need OIDC_ISSUER, which is not set")
	}
	return nil
}
