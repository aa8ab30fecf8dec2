package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/linked/token"
)

const (
	// agreeTime limits the time for an owner to consent.
	agreeTime = 10 * time.Minute
	// answerMost limits the pasted text.
	answerMost = 16 << 10
)

// linkByConsent links an account whose owner consents in a browser.
func linkByConsent(ctx context.Context, d *command.Context, o linkAccountOptions) error {
	kind, offered := app.ConsentsOf(d.Console, d.Config, zone.NewDB())[o.provider]
	if !offered && o.provider == "gmail" {
		return console.WrongUsage("linking the mail of Gmail accounts is not enabled: GMAIL is not true, or " +
			"GOOGLE_CLIENT_ID is not set (see docs/linked-providers.md)")
	}
	if !offered {
		return console.WrongUsage("linking such accounts is not enabled: %s_CLIENT_ID is not set (see "+
			"docs/linked-providers.md)", strings.ToUpper(o.provider))
	}
	n, err := agree(ctx, d.Console, kind, o.provider)
	if err != nil {
		return err
	}
	n.Name, n.Every, n.Choose = o.name, o.every, o.choose
	return linkNew(ctx, d, n)
}

// agree obtains an owner's consent, and returns the new account.
func agree(ctx context.Context, p *console.Console, kind app.Consent, provider string) (mirror.NewAccount, error) {
	ctx, cancel := context.WithTimeout(ctx, agreeTime)
	defer cancel()
	state, verifier := token.Verifier(), token.Verifier()
	p.Say("Open this URL, sign in and agree:\n\n%s\n\nThen paste the URL of the page that the browser ends on: ",
		kind.Address(app.AgreedAt, state, verifier))
	code, err := codeOf(p.Stdin, state)
	if err != nil {
		return mirror.NewAccount{}, err
	}
	p.Say("\n")
	if ctx.Err() != nil {
		return mirror.NewAccount{}, errors.New("that took longer than ten minutes; run the command again")
	}
	n, err := kind.Account(ctx, app.AgreedAt, code, verifier)
	n.Provider = provider
	return n, err
}

// codeOf reads the URL that the browser was redirected to, and returns its code.
func codeOf(in io.Reader, state string) (code string, err error) {
	line, err := bufio.NewReader(io.LimitReader(in, answerMost)).ReadString('\n')
	if err != nil && line == "" {
		return "", errors.New("no URL was pasted, so nothing was linked")
	}
	at, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		return "", errors.New("that is not a URL")
	}
	q := at.Query()
	switch {
	case q.Get("error") == "access_denied":
		return "", errors.New("the owner did not agree, so nothing was linked")
	case q.Get("error") != "":
		return "", fmt.Errorf("the provider answered %s, so nothing was linked", console.Shown(q.Get("error")))
	case q.Get("code") == "":
		return "", fmt.Errorf("that URL contains no code; it should begin with %s/?code= or %s?state=", app.AgreedAt,
			app.AgreedAt)
	case q.Get("state") != state:
		return "",
			errors.New("that URL belongs to another attempt; open the URL above and paste the one that it leads to")
	}
	return q.Get("code"), nil
}
