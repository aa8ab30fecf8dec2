package remind

import (
	"cmp"
	"context"
	"fmt"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// report reports the invitations, the shares and the suggestions since the last report.
func (r *Ringer) report(ctx context.Context, s calendar.ReminderSettings) error {
	who, err := r.recipient(ctx, s.User)
	if who == nil || err != nil {
		return err
	}
	defer who.meter.Close()
	if s.Zone != who.caller.User.Timezone {
		s.Since = r.Now()
		return r.Store.SetReminderSettings(ctx, s)
	}
	messages, err := r.Service.MessageChanges(ctx, who.caller, calendar.SyncToken{})
	if err != nil {
		return fmt.Errorf("reading the inbox: %w", err)
	}
	shares, err := r.Service.NotificationChanges(ctx, who.caller, calendar.SyncToken{})
	if err != nil {
		return fmt.Errorf("reading the notices: %w", err)
	}
	suggested, told, err := r.suggestions(ctx, who, s)
	if err != nil {
		return err
	}
	news := append(r.invitations(who, s, messages.Items), suggested...)
	out := r.alerts(who, s.Invitations, few(who, news)...)
	more := r.alerts(who, s.Shares, few(who, r.shares(who, s, shares.Items))...)
	out.Messages, out.Letters = append(out.Messages, more.Messages...), append(out.Letters, more.Letters...)
	return r.withoutMail(out, func(out calendar.Alerts) error {
		return r.Store.Report(ctx, s, calendar.Reported{
			Inbox: messages.Now.Version, Notices: shares.Now.Version, Suggestions: told,
		}, out)
	})
}

// few returns one notification in place of more than a few.
func few(who *recipient, all []note) []note {
	if len(all) > atOnce {
		return []note{summary(who.language(), all)}
	}
	return all
}

// invitationWords are the texts of a notification of a message. Other messages are not reported.
var invitationWords = map[calendar.Method]string{ //nolint:exhaustive // the others have no words
	calendar.MethodRequest: "remind.invitation", calendar.MethodCancel: "remind.cancellation",
}

// invitations describes the new messages in an inbox.
func (r *Ringer) invitations(who *recipient, s calendar.ReminderSettings, all []calendar.InboxItem) []note {
	var notes []note
	l := who.language()
	for _, m := range all {
		what := invitationWords[m.Method]
		if m.Version <= s.Inbox || m.Gone || what == "" || s.Invitations == calendar.NoChannel {
			continue
		}
		read, err := content.Read(m.Data, ical.Limits{})
		if err != nil {
			continue
		}
		c := read.Main()
		n := note{
			Title: l.Text(what, "title", cmp.Or(short(content.TextOf(c, "SUMMARY")), l.Text("planner.untitled"))),
			URL:   pagesPath, lasts: newsLast,
			Tag: tag("invitation", read.UID, content.TextOf(c, "RECURRENCE-ID")),
		}
		zone := r.clock(who, calendar.Calendar{})
		if set, err := read.Set(read.Series(), read.Clock(r.Zones, zone)); err == nil {
			for i, err := range set.Between(context.Background(), r.Now(), r.Now().AddDate(1, 0, 0), oneInstance) {
				if err == nil {
					n.Body = when(l, who.caller.User.View.Clock, i.Start, i.End, r.Now(), zone.Location())
					n.URL = dayPath(i.Start.Time.In(zone.Location()))
				}
				break
			}
		}
		if organizer := c.Property("ORGANIZER"); organizer != nil {
			name, _ := organizer.Param("CN")
			name = short(cmp.Or(name, scheduleAddress(organizer.Value()).Name()))
			if n.Body != "" {
				n.Body += " · "
			}
			n.Body += l.Text("remind.from", "name", name)
		}
		notes = append(notes, n)
	}
	return notes
}

// suggestions describes the open suggestions of assistants that the user was not told of. A click opens the page of the
// suggestion, which changes nothing by itself.
func (r *Ringer) suggestions(
	ctx context.Context, who *recipient, s calendar.ReminderSettings,
) (notes []note, told []calendar.SuggestionID, err error) {
	all, err := r.Service.Suggestions(ctx, who.caller)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the suggestions: %w", err)
	}
	for _, one := range all {
		if one.Told || one.State != calendar.SuggestionOpen || s.Invitations == calendar.NoChannel {
			continue
		}
		told = append(told, one.ID)
		changes, err := r.Service.SuggestedChanges(ctx, who.caller, one)
		if err != nil {
			return nil, nil, err
		}
		if len(changes) == 0 || one.Created.Before(s.Since) {
			continue
		}
		wording := describe.For(who.language(), who.caller.User.View.Clock, who.zone.Location(), short)
		notes = append(notes, note{
			Title: who.language().Text("remind.suggestion", "who", short(one.Maker.Agent)),
			Body:  short(wording.Change(changes[0])),
			URL:   suggestionsPath + string(one.ID), lasts: newsLast, Tag: tag("suggestion", string(one.ID)),
		})
	}
	return notes, told, nil
}

// suggestionsPath is the page of suggestions.
const suggestionsPath = "account/suggestions/"

// oneInstance is enough for the first instance.
var oneInstance = recur.Budget{Steps: 10_000, Instances: 10}

// shares describes the new calendars that others share. A mail asks for the answer to a pending one anyway.
func (r *Ringer) shares(who *recipient, s calendar.ReminderSettings, all []calendar.Notification) []note {
	var notes []note
	for _, one := range all {
		if one.Version <= s.Notices || one.Gone || one.Reply || s.Shares == calendar.NoChannel ||
			one.Status != calendar.SharePending && one.Status != calendar.ShareAccepted ||
			one.Status == calendar.SharePending && s.Shares == calendar.MailChannel {
			continue
		}
		notes = append(notes, note{
			Title: who.language().Text("remind.share", "who", short(cmp.Or(one.Owner.Title, one.Owner.Name))),
			Body:  short(one.Title), URL: pagesPath, lasts: newsLast, Tag: tag("share", string(one.Name)),
		})
	}
	return notes
}
