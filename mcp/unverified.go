package mcp

import (
	"context"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp/wire"
)

// mostUnverified limits the listed mails that were ignored.
const mostUnverified = 10

// unverified describes the ignored mails, in one line each. A token restricted to some calendars gets none.
func (b toolbox) unverified(ctx context.Context, c *call, z zoned) ([]shown, error) {
	if c.caller.MayOwn(calendar.ReadObjects) != nil {
		return nil, nil //nolint:nilerr // that is not an error
	}
	all, err := b.service.Unverified(ctx, c.caller)
	var list []shown
	for i, u := range all {
		if i == mostUnverified {
			return append(list, shown(moreItems(len(all)-i))), err
		}
		list = append(list, shown(z.unverified(u)))
	}
	return list, err
}

// unverified describes a mail and why it was ignored. Address, organizer and title are a stranger's text.
func (z zoned) unverified(u calendar.Unverified) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s by mail was not followed, because %s. The sender is %s.", u.Subject(), u.Reason(), u.Standing())
	if !u.Start.IsZero() {
		b.WriteString(" Start: " + z.when(u.Start) + ".")
	}
	fmt.Fprintf(&b, " Untrusted text: sender %s, organizer %s, title %s",
		wire.Quoted(short(string(u.From), longestListedTitle)), wire.Quoted(short(u.Organizer, longestListedTitle)), quotedTitle(short(u.Title, longestListedTitle)))
	return b.String()
}

// writeUnverified writes them as text.
func writeUnverified(b *strings.Builder, all []shown) {
	if len(all) > 0 {
		b.WriteString("\nNot in the calendar:\n")
	}
	for _, line := range all {
		fmt.Fprintf(b, "- %s\n", defused(string(line)))
	}
}
