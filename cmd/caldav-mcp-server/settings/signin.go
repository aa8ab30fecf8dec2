package settings

import (
	"errors"
	"net/url"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// SignIn is the identity provider for signing in to the web pages.
type SignIn struct {
	Issuer, ClientID, ClientSecret string
	// Scopes are requested in addition to the usual ones.
	Scopes []string
	// RequiredClaim must have or contain RequiredValue; "" lets everyone in.
	RequiredClaim, RequiredValue string
	// GroupsClaim has a person's groups; Groups are the provider's groups, by the name of ours.
	GroupsClaim string
	Groups      map[string][]string
	// Only is set if users sign in in no other way.
	Only bool
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
			Env: "OIDC_SCOPES", Placeholder: "SCOPES", Groups: ServeGroup,
			About: "scopes to request besides openid, profile and email, such as groups",
			Set:   func(c *Config, value string) error { c.SignIn.Scopes = strings.Fields(value); return nil },
		},
		{
			Env: "OIDC_REQUIRE", Placeholder: "CLAIM=VALUE", Groups: ServeGroup,
			About: "claim that a user needs to sign in, such as groups=calendar",
			Set:   setRequired,
		},
		{
			Env: "OIDC_GROUPS_CLAIM", Placeholder: "CLAIM", Fallback: "groups", Groups: ServeGroup,
			About: "claim that has the groups of a user",
			Set:   func(c *Config, value string) error { c.SignIn.GroupsClaim = value; return nil },
		},
		{
			Env: "OIDC_GROUPS", Placeholder: "THEIRS=OURS,…", Groups: ServeGroup,
			About: "groups at the provider, each with the group here that its members are in",
			Set:   setGroups,
		},
		{
			Env: "OIDC_ONLY", Placeholder: "BOOL", Fallback: "false", Groups: ServeGroup,
			About: "true turns off passwords, except app passwords, and passkeys for signing in",
			Set:   setSwitch(func(c *Config) *bool { return &c.SignIn.Only }),
		},
		{
			Env: "OIDC_CREATE_USERS", Placeholder: "BOOL", Fallback: "false", Groups: ServiceGroup,
			About: "true creates an account for each new user of that provider",
			Set:   setSwitch(func(c *Config) *bool { return &c.Service.CreateUsers }),
		},
	}
}

func setRequired(c *Config, value string) error {
	claim, wanted, found := strings.Cut(value, "=")
	if !found || claim == "" || wanted == "" {
		return errors.New("is not a claim and its value, such as groups=calendar")
	}
	c.SignIn.RequiredClaim, c.SignIn.RequiredValue = claim, wanted
	return nil
}

func setGroups(c *Config, value string) error {
	c.SignIn.Groups = map[string][]string{}
	for pair := range strings.SplitSeq(value, ",") {
		// The provider's name may have an equals sign, such as a name of LDAP; ours has none.
		at := strings.LastIndex(pair, "=")
		if at < 1 {
			return errors.New("is not a list such as staff=staff,it-admins=it")
		}
		ours := strings.ToLower(strings.TrimSpace(pair[at+1:]))
		c.SignIn.Groups[ours] = append(c.SignIn.Groups[ours], strings.TrimSpace(pair[:at]))
	}
	return nil
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
	if c.Issuer == "" && (c.Only || c.RequiredClaim != "" || c.Groups != nil || c.Scopes != nil) {
		return console.WrongUsage("OIDC_ONLY, OIDC_REQUIRE, OIDC_GROUPS and OIDC_SCOPES need OIDC_ISSUER, which is " +
			"not set")
	}
	if c.Issuer == "" && (c.ClientSecret != "" || creating) {
		return console.WrongUsage("OIDC_CLIENT_SECRET and OIDC_CREATE_USERS need OIDC_ISSUER, which is not set")
	}
	return nil
}
