package describe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
)

// Fault puts an error into the words of a language. Errors are made where no language is known, so a text is found by
// the format of the error's message. In other languages, a message without a text is introduced as English.
func Fault(l *locale.Language, e *calendar.Error) string {
	if l.Tag() == locale.Match().Tag() {
		return e.Error()
	}
	if text, ok := translated(l, e); ok {
		return text
	}
	if e.Format == "%s" { // a page made it of its own texts
		return e.Error()
	}
	return l.Text("error.english", "message", e.Error())
}

// Known reports whether there is a text for an error.
func Known(e *calendar.Error) bool {
	_, known := faults[e.Format]
	return known
}

// Stored translates the message of an error that was stored as text. A message without a text stays as it is.
func Stored(l *locale.Language, message string) string {
	if l.Tag() == locale.Match().Tag() {
		return message
	}
	if text, ok := recognized(l, message); ok {
		return text
	}
	return message
}

// recognized finds the format of a message, and translates the message. The longest matching format counts.
func recognized(l *locale.Language, message string) (string, bool) {
	e := calendar.Error{Message: message}
	var values []string
	for format, pattern := range patterns() {
		if found := pattern.FindStringSubmatch(message); found != nil && len(format) > len(e.Format) {
			e.Format, values = format, found[1:]
		}
	}
	for i, v := range verb.FindAllString(e.Format, -1) {
		var value any = values[i]
		switch v[len(v)-1] {
		case 'd':
			value, _ = strconv.Atoi(values[i]) // translated compares the message
		case 'q':
			value, _ = strconv.Unquote(values[i])
		}
		e.Args = append(e.Args, value)
	}
	return translated(l, &e)
}

// verb is the place of a value in a format.
var verb = regexp.MustCompile(`%[.0-9]*[dqs]`)

// patterns returns the patterns of messages by the formats of [faults]. A format that begins with %s has no pattern,
// because it would match messages of other formats.
var patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	values := map[byte]string{'d': `(\d+)`, 'q': `("(?:[^"\\]|\\.)*")`, 's': `(.*?)`}
	all := map[string]*regexp.Regexp{}
	for format := range faults {
		if strings.HasPrefix(format, "%s") {
			continue
		}
		pattern := verb.ReplaceAllStringFunc(regexp.QuoteMeta(format), func(v string) string {
			return values[v[len(v)-1]]
		})
		all[format] = regexp.MustCompile(`(?s)\A` + pattern + `\z`)
	}
	return all
})

func translated(l *locale.Language, e *calendar.Error) (string, bool) {
	text, known := faults[e.Format]
	hint, advised := faults[e.Hint]
	if !known || e.Hint != "" && !advised || e.Message != fmt.Sprintf(e.Format, e.Args...) {
		return "", false
	}
	var pairs []any
	for i, name := range strings.Fields(text.values) {
		pairs = append(pairs, name, inText(l, name, e.Args[i]))
	}
	message := l.Text(text.id, pairs...)
	if e.Hint != "" {
		message = l.Text("error.with-hint", "message", message, "hint", l.Text(hint.id))
	}
	return message, true
}

// inText formats a value for a text. It translates an error, and a message with the name "why".
func inText(l *locale.Language, name string, value any) string {
	if reason, ok := value.(*calendar.Error); ok {
		return Fault(l, reason)
	}
	plain := fmt.Sprint(value)
	if name == "why" {
		if text, ok := recognized(l, plain); ok {
			return text
		}
	}
	quoted := strconv.Quote(plain) // without characters that hide or reverse others
	return quoted[1 : len(quoted)-1]
}

// Instead returns the text that a page shows in all languages instead of a message with ids or versions; "" if it shows
// the message.
func Instead(e *calendar.Error) string { return forPrograms[e.Format] }

// forPrograms are the texts for errors whose messages have ids and versions, by the formats of these messages.
var forPrograms = map[string]string{
	"no calendar %q":                                          "error.gone",
	"no calendar %q in the trash":                             "error.gone",
	"no object %q in this calendar":                           "error.gone",
	"no object with the UID %q in this calendar":              "error.gone",
	"no object with the UID %q in the trash of this calendar": "error.gone",
	"there is no change %q in the journal":                    "error.gone",
	"there is no link %q":                                     "error.gone",
	"there is no message %q":                                  "error.gone",
	"there is no notification %q":                             "error.gone",
	"there is no token %q":                                    "error.gone",
	"there is no webhook %q":                                  "error.gone",
	"you have linked no account %q":                           "error.gone",
	"%s: it does not exist":                                   "error.changed",
	"the event has changed: its schedule tag does not match":  "error.changed",
}

// faultText is the text for errors of a format, with the names of its values in order, separated by blanks.
type faultText struct{ id, values string }

// faults are the errors and hints that people meet on pages, by their formats. Pages show an error of the reason
// [calendar.Forbidden] only if it is one of them.
var faults = map[string]faultText{
	"the account has changed meanwhile; sign in again": {"fault.account-changed", ""},
	"%q is another user's":                             {"fault.address-taken", "address"},
	"%q is the mail address of the user %s":            {"fault.address-held", "address name"},
	"two users with one address would both get no invitations; enter another address, or none": {
		"fault.address-held-hint", "",
	},
	"another calendar has the address %q by now": {"fault.address-used", "address"},
	"restore it to another address":              {"fault.address-used-hint", ""},
	"this link is not valid: the event may be over, there may be a newer mail about it, or the " +
		"link was cut off on its way": {
		"fault.answer-link", "",
	},
	"the event was called off, so there is nothing to answer":       {"fault.answer-off", ""},
	"you have answered very often; wait an hour, then answer again": {"fault.answer-often", ""},
	"that was answered already; begin again":                        {"fault.answered", ""},
	"this request was answered already; start again in the app":     {"fault.app-answered", ""},
	"the object is at this place already":                           {"fault.at-place", ""},
	"%.100q is no mail address":                                     {"fault.bad-mail", "address"},
	"you have blocked %q":                                           {"fault.blocked", "name"},
	"unblock them first":                                            {"fault.blocked-hint", ""},
	"the address of a CalDAV server is the name of a host, or begins with https://": {
		"fault.caldav-address", "",
	},
	"there is no CalDAV server at this address":                            {"fault.caldav-none", ""},
	"the calendar's name is longer than %d bytes":                          {"fault.calendar-name", "number"},
	"a room takes a number of people, or 0 for any number":                 {"fault.capacity", ""},
	"that code is not the one of this moment; is the phone's clock right?": {"fault.code", ""},
	"%q is no colour: write #RRGGBB or #RRGGBBAA":                          {"fault.colour", "text"},
	"a comment may have %d characters":                                     {"fault.comment", "number"},
	"choose at least one calendar, or all":                                 {"fault.consent-calendars", ""},
	"the calendars of people who made you their delegate can be allowed only together with all " +
		"of yours": {
		"fault.consent-delegate", "",
	},
	"choose at least one thing that the program may do":        {"fault.consent-nothing", ""},
	"this access would have ended already: choose a later end": {"fault.consent-over", ""},
	"to let it propose changes in a calendar, also tick that it may propose changes": {
		"fault.consent-propose", "",
	},
	"%q is the default calendar for new events and invitations: open the page of another " +
		"calendar, and make that the default first": {
		"fault.default-calendar", "calendar",
	},
	"only a person can be a delegate: name a user":       {"fault.delegate-person", ""},
	"you cannot be your own delegate: name another user": {"fault.delegate-self", ""},
	"a user can have %d delegates: remove one first":     {"fault.delegates", "number"},
	"this link is not valid: it may have been cut off on its way; the settings of the account " +
		"turn the mail off, too": {
		"fault.digest-link", "",
	},
	"%q is no e-mail address; it looks like name@example.com": {"fault.email", "address"},
	"%q is among the addresses already":                       {"fault.email-known", "address"},
	"the address is another user's":                           {"fault.email-taken", ""},
	"there are %d addresses already; remove one first":        {"fault.emails", "number"},
	"the owner of this calendar has this event with guests in another calendar already": {
		"fault.event-elsewhere", "",
	},
	"this is an event with guests of the owner of %q, and stays in their calendars": {
		"fault.event-stays", "calendar",
	},
	"this is no address; one begins with https:// or webcal://": {"fault.feed-address", ""},
	"it does not answer there, or stands for no public address": {"fault.feed-away", ""},
	"your linked calendars have caused as much work today as they may, so they are fetched " +
		"again tomorrow (UTC)": {
		"fault.feed-budget", "",
	},
	"unlink large ones and any that change completely each time, or ask the administrator for " +
		"a higher FEED_BUDGET": {
		"fault.feed-budget-hint", "",
	},
	"there is no calendar in iCalendar format at this address":            {"fault.feed-none", ""},
	"an address of a calendar begins with https:// or webcal://, not %s:": {"fault.feed-scheme", "scheme"},
	"it answers %d": {"fault.feed-status", "number"},
	"something went wrong here; it has been written down for the administrator": {"fault.file-failed", ""},
	"the file has more than %s": {"fault.file-large", "size"},
	"the file holds nothing that a calendar keeps: is it an iCalendar (.ics) file, or a ZIP " +
		"file of them?": {
		"fault.file-nothing", "",
	},
	"there is a user or a group %q already":                   {"fault.group-exists", "name"},
	"%q are no working hours; they look like 09:00-17:00":     {"fault.hours", "text"},
	"that account is linked with a user already":              {"fault.identity-linked", ""},
	"another file is being imported: wait until that is done": {"fault.importing", ""},
	"the calendar for invitations must be your own, accept events, and not be a linked one": {
		"fault.inbox-calendar", "",
	},
	"try again later":                                                          {"fault.later", ""},
	"%s cannot be linked: %s":                                                  {"fault.link-failed", "name why"},
	"at most %d calendars of an account can be linked":                         {"fault.link-many", "number"},
	"a name has one line of at most %d bytes":                                  {"fault.link-name", "number"},
	"the link would have expired already":                                      {"fault.link-over", ""},
	"%s does not accept this name and password":                                {"fault.link-sign-in", "name"},
	"you have already linked %d accounts and feeds, the most that are allowed": {"fault.linked", "number"},
	"you follow this feed already, as the calendar %q; a second one would have all of it twice": {
		"fault.linked-already", "calendar",
	},
	"use that one, or unlink it first":                          {"fault.linked-already-hint", ""},
	"this feed is being linked at this moment":                  {"fault.linking-now", ""},
	"list the linked accounts":                                  {"fault.linking-now-hint", ""},
	"there are %d links already; end some that are not needed":  {"fault.links", "number"},
	"%d links were sent within an hour; wait for the next hour": {"fault.links-hour", "number"},
	"it has %d cells, but the header has %d": {
		"fault.list-cells", "number most",
	},
	"the list contains no users":              {"fault.list-empty", ""},
	"there is no field %q; the fields are %s": {"fault.list-field", "name list"},
	"the list has more than %s: split it":     {"fault.list-large", "size"},
	"it has no name":                          {"fault.list-name", ""},
	"line %d is about %s, too": {
		"fault.list-twice", "number name",
	},
	"the list is not UTF-8: save it as such":                                        {"fault.list-utf8", ""},
	"too many logins at once; try again in a moment":                                {"fault.logins", ""},
	"the mail could not be sent just now; try again in a while":                     {"fault.mail-away", ""},
	"the mail server takes no mail to this address; is it written as it should be?": {"fault.mail-refused", ""},
	"this instance and its series do not both take whole days":                      {"fault.mixed-days", ""},
	"change the series without naming the instance":                                 {"fault.mixed-days-hint", ""},
	"the name has a line break, another control character or bytes that are not UTF-8": {
		"fault.name-characters", "",
	},
	"the name is longer than %d characters":                                   {"fault.name-long", "number"},
	"another object has the name %q by now":                                   {"fault.name-used", "name"},
	"leave it a calendar, or revoke it":                                       {"fault.narrow-calendars", ""},
	"leave it something that it may do, or revoke it":                         {"fault.narrow-nothing", ""},
	"there is no user and no group %q; the other words are users and anybody": {"fault.no-booker", "name"},
	"say which address; it looks like name@example.com":                       {"fault.no-email", ""},
	"choose a file that is not empty":                                         {"fault.no-file", ""},
	"there is no group %q":                                                    {"fault.no-group", "name"},
	"the series has no such instance":                                         {"fault.no-instance", ""},
	"the series has no instance at %s":                                        {"fault.no-instance-at", "time"},
	"there is no such invitation, or it was withdrawn":                        {"fault.no-invitation", ""},
	"this event does not invite the owner of %q": {
		"fault.no-invitation-here", "calendar",
	},
	"you are not in the group %q, and share nothing with it": {
		"fault.not-in-group", "name",
	},
	"only members share with a group; an administrator adds them on the group's page": {
		"fault.not-in-group-hint", "",
	},
	"an invitation names one of their mail addresses among its attendees":     {"fault.no-invitation-hint", ""},
	"%s has no mail address that is verified, so there is nowhere to send it": {"fault.no-mail", "name"},
	"this user gets no link to choose a password":                             {"fault.no-password-link", ""},
	"no user %q has made you their delegate":                                  {"fault.no-principal", "name"},
	"%q cannot get the calendars: choose another user who can sign in":        {"fault.no-successor", "name"},
	"%.100q is no URL": {"fault.no-url", "text"},
	"write it whole, such as https://example.com/page":                         {"fault.no-url-hint", ""},
	"there is no user %q":                                                      {"fault.no-user", "name"},
	"there is no verified mail address to send notifications to":               {"fault.no-verified", ""},
	"you have not blocked %q":                                                  {"fault.not-blocked", "name"},
	"%q is not your delegate":                                                  {"fault.not-delegate", "name"},
	"this event does not invite the owner of the calendar":                     {"fault.not-invited", ""},
	"%s is not in the group %s":                                                {"fault.not-member", "name group"},
	"%s was not refreshed: %s":                                                 {"fault.not-refreshed", "name why"},
	"the object has %d bytes; this server takes %d":                            {"fault.object-large", "number most"},
	"%q has too many offers to answer, and gets no more until they do":         {"fault.offers", "name"},
	"ask them to answer, or take back an offer":                                {"fault.offers-hint", ""},
	"this is the only administrator: make another user an administrator first": {"fault.only-admin", ""},
	"it is your only way in; choose a password or make a passkey first":        {"fault.only-way", ""},
	"it would end (%s) before it begins (%s)":                                  {"fault.order", "end start"},
	"%s organizes this event, and says when it is: you can accept or decline it, or propose " +
		"another time": {
		"fault.organized", "name",
	},
	"%s organizes this event, and says who takes part": {"fault.organized-guests", "name"},
	"the owner of %q organizes this event: there is no invitation to answer": {
		"fault.own-event", "calendar",
	},
	"the reminders have %d bytes; for an event in a shared calendar, at most %d are stored": {
		"fault.own-reminders", "number most",
	},
	"your reminders in this calendar would have more than %d bytes":        {"fault.own-reminders-all", "number"},
	"the calendar's owner has reached a limit of their account":            {"fault.owner-full", ""},
	"a passkey needs a name that tells it from others, such as \"Laptop\"": {"fault.passkey-name", ""},
	"there are %d passkeys already; remove one first":                      {"fault.passkeys", "number"},
	"the password has a line break, another control character or bytes that are not UTF-8; " +
		"clients could not send it": {
		"fault.password-characters", "",
	},
	"this link has been used, has expired or was replaced; ask for another one": {"fault.password-link", ""},
	"the password is too long: it may have at most %d bytes":                    {"fault.password-long", "number"},
	"the password is too short: it needs at least %d characters":                {"fault.password-short", "number"},
	"the password looks like an access token; use another one":                  {"fault.password-token", ""},
	"%q is not a position in a list: write a whole number":                      {"fault.position", "text"},
	"this link is not valid: it may be older than a day, or was cut off on its way; the settings " +
		"send another one": {
		"fault.proof-link", "",
	},
	"%s has made another proposal meanwhile, or this one was decided already: your decision " +
		"changed nothing": {
		"fault.proposal-newer", "name",
	},
	"read the proposals again, then decide":                                  {"fault.proposal-newer-hint", ""},
	"this proposal is no longer open: the event or the proposal has changed": {"fault.proposal-over", ""},
	"a quota is a number, none or default":                                   {"fault.quota", ""},
	"that would be %d bytes, and the account may have %d":                    {"fault.quota-bytes", "number most"},
	"that would be %d calendars, and the account may have %d":                {"fault.quota-calendars", "number most"},
	"delete calendars and events (a deleted calendar counts until the trash is emptied), or " +
		"ask the administrator for more room": {
		"fault.quota-hint", "",
	},
	"that would be %d objects, and the account may have %d":           {"fault.quota-objects", "number most"},
	"a reminder %d minutes before the start is more than a year away": {"fault.reminder-early", "number"},
	"a room needs a mail address for its invitations":                 {"fault.room-mail", ""},
	"that is when the event takes place: propose another time":        {"fault.same-time", ""},
	"you made %d new shares with %q in the last 24 hours, which is the limit": {
		"fault.share-daily", "number name",
	},
	"share this calendar tomorrow":                                       {"fault.share-daily-hint", ""},
	"the calendar %q is not shared with %q":                              {"fault.share-ended", "calendar name"},
	"%q takes no calendars at present":                                   {"fault.share-refused", "name"},
	"this calendar is already yours: share it with another user":         {"fault.share-self", ""},
	"you share %d calendars with %q, which is the limit":                 {"fault.shares", "number name"},
	"take back one that they no longer need":                             {"fault.shares-hint", ""},
	"%s does not answer now; nothing was changed here":                   {"fault.source-away", "source"},
	"%s is busy; nothing was changed here":                               {"fault.source-busy", "source"},
	"it was changed at %s in the meantime; the new version is shown now": {"fault.source-changed", "source"},
	"read it again, then repeat your change; your version is in the history": {
		"fault.source-changed-hint", "",
	},
	"%s has no room left; nothing was changed here": {"fault.source-full", "source"},
	"delete something there, then try again":        {"fault.source-full-hint", ""},
	"the calendar no longer exists there; the events from the last sync stay here": {
		"fault.source-gone", "",
	},
	"%s does not accept this: %s": {
		"fault.source-refuses", "source why",
	},
	"the account no longer lets us sign in and must be linked again":             {"fault.source-relink", ""},
	"%s cannot be used now: the account must be linked again":                    {"fault.source-sign-in", "source"},
	"it does not respond, or its response is not understood":                     {"fault.source-silent", ""},
	"it takes too long to respond; the next sync continues where this one ended": {"fault.source-slow", ""},
	"the event has changed since the suggestion was made: nothing was accepted": {
		"fault.suggestion-changed", "",
	},
	"compare both on the pages, under Suggestions": {"fault.suggestion-changed-hint", ""},
	"this suggestion has ended, or was withdrawn":  {"fault.suggestion-ended", ""},
	"the calendar has changed while you looked at this: compare again, then accept or decline": {
		"fault.suggestion-stale", "",
	},
	"a token that is bound to calendars needs at least one": {"fault.token-calendars", ""},
	"a token that is limited to certain calendars cannot use the calendars of others": {
		"fault.token-delegate", "",
	},
	"a token needs a name for its purpose, such as \"Claude on laptop\"": {"fault.token-name", ""},
	"the token would have expired already":                               {"fault.token-over", ""},
	"a token that may only propose changes in some calendars needs the scope propose": {
		"fault.token-propose", "",
	},
	"there are %d tokens already; revoke some that are not needed": {"fault.tokens", "number"},
	"that took too long; begin again":                              {"fault.too-late", ""},
	"this change belongs together with one in a calendar that you may not write to": {
		"fault.undo-elsewhere", "",
	},
	"the versions before these changes have more than %d KiB": {"fault.undo-large", "number"},
	"take back fewer of them, the later ones first, or correct the event by hand": {
		"fault.undo-large-hint", "",
	},
	"these are more than %d changes; take back the later ones first": {"fault.undo-many", "number"},
	"the calendar %q has more than %d meetings with other people": {
		"fault.undo-meetings", "calendar number",
	},
	"delete the calendar instead":                                 {"fault.undo-meetings-hint", ""},
	"the user that the calendar was shared with no longer exists": {"fault.undo-no-sharee", ""},
	"the recurrence would end (UNTIL=%s) before it begins (%s)":   {"fault.until", "until start"},
	"there is a user %q already":                                  {"fault.user-exists", "name"},
	"%q is no user name: use 1 to 64 letters a-z, digits, '.', '_', '@' or '-', beginning with a " +
		"letter or a digit": {
		"fault.user-name", "name",
	},
	"a webhook is an https address without a user or a fragment, of at most %d bytes": {
		"fault.webhook", "number",
	},
	"the webhook is turned off; turn it on first": {"fault.webhook-off", ""},
	"%q is no time zone; did you mean %s?":        {"fault.zone", "name chosen"},
	"The provider granted no lasting access. Link the account again, and grant everything that it asks " +
		"for.": {
		"fault.far-access", "",
	},
	"the account lists the same objects again and again": {"fault.far-again", ""},
	"Microsoft does not bring back a cancelled instance (%s). Create an event for that day.": {
		"fault.far-back", "time",
	},
	"Google keeps no cancelled event: a cancelled one is deleted there. Delete it, or the instance, " +
		"instead.": {
		"fault.far-cancelled", "",
	},
	"the provider does not know this server any more: its client id or secret is wrong": {
		"fault.far-client", "",
	},
	"At Microsoft, an instance must last whole days if its series does, and only then.": {
		"fault.far-days", "",
	},
	"the list of events there has no end": {"fault.far-endless", ""},
	"Only single instances of this series are visible to us, so no others can be added.": {
		"fault.far-few", "",
	},
	"Microsoft has no field for an event's %s. Take it out.":                {"fault.far-field", "name"},
	"Google keeps only links to files (https://). Take the attachment out.": {"fault.far-file", ""},
	"Google keeps %d attachments of an event, and this one has %d.":         {"fault.far-files", "most number"},
	"Microsoft needs a series that begins on a day of its rule (%s). Begin it on such a day.": {
		"fault.far-first", "rule",
	},
	"\"This and all following\" cannot be kept there. End the series and begin another one.": {
		"fault.far-following", "",
	},
	"An instance must name a time if its series has times, and a day if its series has days.": {
		"fault.far-form", "",
	},
	"there is no room left there":                         {"fault.far-full", ""},
	"A guest there needs a mail address, and %q is none.": {"fault.far-guest", "address"},
	"Google does not show us all guests of this event, so they cannot be changed from here.": {
		"fault.far-guests", "",
	},
	"the source has a version that cannot be shown here (%s): change it there": {"fault.far-hidden", "why"},
	"The series has no instance on %s, so none can be changed there.":          {"fault.far-instance", "time"},
	"Microsoft cannot store an invitation from %s, since it would make you the organizer. Answer it " +
		"where it arrived.": {
		"fault.far-invited", "address",
	},
	"Microsoft keeps the link of this online meeting in its description. Change the description in " +
		"Outlook or Teams.": {
		"fault.far-join", "",
	},
	"the server can no longer decrypt this account's password, because its key changed: link the " +
		"account again": {
		"fault.far-key", "",
	},
	"That calendar has only events, and this is a %s. Store it in a calendar of this server.": {
		"fault.far-kind", "kind",
	},
	"this server is not set up for accounts of the kind %q":                      {"fault.far-kinds", "name"},
	"The server's answer is larger than %d KB.":                                  {"fault.far-large", "number"},
	"in a month without that day it takes the last one, and the rule takes none": {"fault.far-last-day", ""},
	"Some stored properties of the event cannot be read.":                        {"fault.far-lines", ""},
	"The calendar at %s has more than %d events, which is more than is kept here.": {
		"fault.far-many", "provider number",
	},
	"The start and the end must both be days or both be times.": {"fault.far-mixed", ""},
	"%q is no number of further guests.":                        {"fault.far-more-guests", "text"},
	"Microsoft cannot repeat an event by the rule %s: %s. The nearest rule that it has is %s.": {
		"fault.far-nearest", "rule why chosen",
	},
	"the account has no calendars": {"fault.far-none", ""},
	"the app no longer says which feed it follows; the events from the last sync stay here": {
		"fault.far-note", "",
	},
	"The organizer of an event cannot be changed at %s (it is %s).": {
		"fault.far-organizer", "provider address",
	},
	"it knows intervals of days, weeks, months and years, days of a month up to 28, the last day, and " +
		"the first to fourth or last of some weekdays": {
		"fault.far-patterns", "",
	},
	"Google keeps no further dates with a length of their own (RDATE with a PERIOD).": {
		"fault.far-periods", "",
	},
	"The account lacks a permission (%s). Link it again, and leave all boxes ticked.": {
		"fault.far-permission", "name",
	},
	"At Google, a working location is public and counts as free. To change that, delete it and create " +
		"an event.": {
		"fault.far-place", "",
	},
	"The account's server refuses it: %s": {"fault.far-refused", "said"},
	"Google keeps %d reminders of an event, and this one has %d. Remove some.": {
		"fault.far-reminders", "most number",
	},
	"the account's key was renewed during the sync; it will be tried again": {"fault.far-renewed", ""},
	"Microsoft cannot repeat an event by the rule %s: %s.":                  {"fault.far-repeat", "rule why"},
	"Google does not know the answer %q of the guest %s.":                   {"fault.far-reply", "text address"},
	"The property %s was changed: it has the data of %s that iCalendar lacks. Leave it as it is, or " +
		"leave it out.": {
		"fault.far-rest", "name provider",
	},
	"Google keeps no rule with RSCALE or SKIP.": {"fault.far-rscale", ""},
	"An instance of a series has a rule of its own, which Microsoft cannot keep.": {
		"fault.far-rule-microsoft", "",
	},
	"Microsoft keeps one rule of a series, and this one has %d.":  {"fault.far-rules", "number"},
	"the account's secret cannot be read: link the account again": {"fault.far-secret", ""},
	"Single instances are kept there only within their series.":   {"fault.far-single", ""},
	"The event has %d bytes of properties without a field at %s, and at most %d are kept there. Remove " +
		"some.": {
		"fault.far-size", "number provider most",
	},
	"An event without a start cannot be kept there.": {"fault.far-start", ""},
	"the account's server has trouble at the moment": {"fault.far-trouble", ""},
	"An event of Google's type %s has times and counts as busy. To change that, delete it and create " +
		"another one.": {
		"fault.far-type", "text",
	},
	"The event cannot be read: %s":                                    {"fault.far-unread", "said"},
	"The event there cannot be written as iCalendar: %s":              {"fault.far-unsaid", "why"},
	"At Google, the URL of an event begins with https:// or http://.": {"fault.far-url", ""},
	"the account's server asks us to wait, since we ask too often":    {"fault.far-wait", ""},
	"The time zone %q is not known there.":                            {"fault.far-zone", "name"},
	"The time zone %q has no name that is known there. Use one such as Europe/Berlin.": {
		"fault.far-zone-name", "name",
	},
	"The event has a time without a zone, which cannot be kept there. Give its times a zone.": {
		"fault.far-zoneless", "",
	},
}
