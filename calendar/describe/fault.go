package describe

import (
	"fmt"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
)

// Fault puts an error into the words of a language. Errors are made where no language is known, so a text is found by
// the format of the error's message. A message without a text is in English, and so is one with a hint.
func Fault(l *locale.Language, e *calendar.Error) string {
	text, known := faults[e.Format]
	changed := e.Hint != "" || e.Message != fmt.Sprintf(e.Format, e.Args...)
	if !known || changed || l.Tag() == locale.Match().Tag() {
		return e.Error()
	}
	var pairs []any
	for i, name := range strings.Fields(text.values) {
		value := strconv.Quote(fmt.Sprint(e.Args[i])) // without characters that hide or reverse others
		pairs = append(pairs, name, value[1:len(value)-1])
	}
	return l.Text(text.id, pairs...)
}

// faultText is the text for errors of a format, with the names of its values in order, separated by blanks.
type faultText struct{ id, values string }

// faults are the errors that people meet on pages, by their formats.
var faults = map[string]faultText{
	"this link is not valid: the event may be over, there may be a newer mail about it, or the " +
		"link was cut off on its way": {
		"fault.answer-link", "",
	},
	"the event was called off, so there is nothing to answer":              {"fault.answer-off", ""},
	"you have answered very often; wait an hour, then answer again":        {"fault.answer-often", ""},
	"the calendar's name is longer than %d bytes":                          {"fault.calendar-name", "number"},
	"that code is not the one of this moment; is the phone's clock right?": {"fault.code", ""},
	"%q is no colour: write #RRGGBB or #RRGGBBAA":                          {"fault.colour", "text"},
	"a comment may have %d characters":                                     {"fault.comment", "number"},
	"choose at least one calendar, or all":                                 {"fault.consent-calendars", ""},
	"choose at least one thing that the program may do":                    {"fault.consent-nothing", ""},
	"you cannot be your own delegate: name another user":                   {"fault.delegate-self", ""},
	"this link is not valid: it may have been cut off on its way; the settings of the account " +
		"turn the mail off, too": {
		"fault.digest-link", "",
	},
	"%q is no e-mail address; it looks like name@example.com":                       {"fault.email", "address"},
	"%q is among the addresses already":                                             {"fault.email-known", "address"},
	"the address is another user's":                                                 {"fault.email-taken", ""},
	"there are %d addresses already; remove one first":                              {"fault.emails", "number"},
	"there is a user or a group %q already":                                         {"fault.group-exists", "name"},
	"another file is being imported: wait until that is done":                       {"fault.importing", ""},
	"you have already linked %d accounts and feeds, the most that are allowed":      {"fault.linked", "number"},
	"there are %d links already; end some that are not needed":                      {"fault.links", "number"},
	"too many logins at once; try again in a moment":                                {"fault.logins", ""},
	"the mail could not be sent just now; try again in a while":                     {"fault.mail-away", ""},
	"the mail server takes no mail to this address; is it written as it should be?": {"fault.mail-refused", ""},
	"leave it a calendar, or revoke it":                                             {"fault.narrow-calendars", ""},
	"leave it something that it may do, or revoke it":                               {"fault.narrow-nothing", ""},
	"say which address; it looks like name@example.com":                             {"fault.no-email", ""},
	"there is no group %q":                                                          {"fault.no-group", "name"},
	"there is no such invitation, or it was withdrawn":                              {"fault.no-invitation", ""},
	"there is no user %q":                                                           {"fault.no-user", "name"},
	"there is no verified mail address to send notifications to":                    {"fault.no-verified", ""},
	"this is the only administrator: make another user an administrator first":      {"fault.only-admin", ""},
	"it is your only way in; choose a password or make a passkey first":             {"fault.only-way", ""},
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
	"that is when the event takes place: propose another time":   {"fault.same-time", ""},
	"this calendar is already yours: share it with another user": {"fault.share-self", ""},
	"this suggestion has ended, or was withdrawn":                {"fault.suggestion-ended", ""},
	"the calendar has changed while you looked at this: compare again, then accept or decline": {
		"fault.suggestion-stale", "",
	},
	"a token needs a name for its purpose, such as \"Claude on laptop\"": {"fault.token-name", ""},
	"that took too long; begin again":                                    {"fault.too-late", ""},
	"there is a user %q already":                                         {"fault.user-exists", "name"},
	"%q is no user name: use 1 to 64 letters a-z, digits, '.', '_', '@' or '-', beginning with a " +
		"letter or a digit": {
		"fault.user-name", "name",
	},
	"a webhook is an https address without a user or a fragment, of at most %d bytes": {
		"fault.webhook", "number",
	},
	"%q is no time zone; did you mean %s?": {"fault.zone", "name chosen"},
}
