package caldav

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// tokenSearch is CS:calendarserver-principal-search. Apple Calendar sends it to complete the name of an invitee or
// sharee, with one token for each word. Apple never documented it; the source of Apple's server shows it.
type tokenSearch struct {
	XMLName xml.Name `xml:"http://calendarserver.org/ns/ calendarserver-principal-search"`
	// Context is the kind of principal, a key of contexts.
	Context string   `xml:"context,attr"`
	Tokens  []string `xml:"http://calendarserver.org/ns/ search-token"`
	principalQuery
}

// contexts filter the result: Apple Calendar searches rooms and resources separately from users. An unknown context
// matches all.
var contexts = map[string]func(calendar.User) bool{
	"group":    func(calendar.User) bool { return false }, // groups cannot be invited
	"user":     func(u calendar.User) bool { return !u.Room.Bookable() },
	"location": func(u calendar.User) bool { return u.Room.Kind == calendar.RoomToMeet },
	"resource": func(u calendar.User) bool { return u.Room.Kind == calendar.Resource },
}

// searchTokens answers with the users whose name contains each token, or whose mail address starts with it.
func searchTokens(x *request, _ *resource, q *tokenSearch) error {
	var words []string
	for _, token := range q.Tokens {
		words = append(words, strings.Fields(token)...)
	}
	if len(words) == 0 {
		return dav.Refuse(http.StatusBadRequest, "calendarserver-principal-search needs a search-token with text in it")
	}
	if err := checkTerms(words); err != nil {
		return err
	}
	// The words together may be the complete name of a user whom the caller does not know.
	whole := strings.Join(words, " ")
	return searchPeople(x, q.principalQuery, func(u calendar.User, is calendar.Comparison) bool {
		if fits := contexts[q.Context]; fits != nil && !fits(u) {
			return false
		}
		named := func(text string) bool { return tokenNames(u, text, is) }
		return named(whole) || !slices.ContainsFunc(words, func(word string) bool { return !named(word) })
	})
}

func tokenNames(u calendar.User, text string, is calendar.Comparison) bool {
	return slices.ContainsFunc(namesOf(addresses{}, u), func(name string) bool { return is(name, text, calendar.Contains) }) ||
		slices.ContainsFunc(mailOf(addresses{}, u), func(mail string) bool { return is(mail, text, calendar.StartsWith) })
}
