package change

import (
	"cmp"
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

type recipientCheckKey struct{}

// WithRecipientCheck returns a context for changes. If such a change notifies people without an account here, check
// gets them before anything is stored or sent. An error of check ends the change. A change of several transactions is
// checked in the first.
func WithRecipientCheck(ctx context.Context, check func([]calendar.Recipient) error) context.Context {
	return context.WithValue(ctx, recipientCheckKey{}, check)
}

// checkRecipients calls the check of the context, if it has one and there are recipients. It passes each recipient
// once.
func checkRecipients(ctx context.Context, all []calendar.Recipient) error {
	check, _ := ctx.Value(recipientCheckKey{}).(func([]calendar.Recipient) error)
	if check == nil || len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b calendar.Recipient) int {
		return cmp.Or(cmp.Compare(a.To, b.To),
			cmp.Compare(a.User, b.User))
	})
	return check(slices.Compact(all))
}
