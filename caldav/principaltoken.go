package caldav

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// tokenSearch is CS:calendarserver-principal-search, with which Apple Calendar completes what
// is typed where somebody is invited to an event or to a calendar: a token for each word. It is written down
// nowhere; Apple's server, which is public, has it.
type tokenSearch struct {
	XMLName xml.Name `xml:"http://calendarserver.org/ns/ calendarserver-principal-search"`
	// Context says what for.
	Context string   `xml:"context,attr"`
	Tokens  []string `xml:"http://calendarserver.org/ns/ search-token"`
	principalQuery
}

// contexts say what is looked for, as Apple Calendar asks for places and things apart from people. Any other finds all.
var contexts = map[string]func(calendar.User) bool{
	"group":    func(calendar.User) bool { return false }, // nobody invites one
	"user":     func(u calendar.User) bool { return !u.Room.Bookable() },
	"location": func(u calendar.User) bool { return u.Room.Kind == calendar.RoomToMeet },
	"resource": func(u calendar.User) bool { return u.Room.Kind == calendar.Resource },
}

// tokenSearch answers with the users in whose name each token stands, or with whose mail
// address begins with it.
func (x *exchange) tokenSearch(_ *resource, q *tokenSearch) error {
	var words []string
	for _, token := range q.Tokens {
		words = append(words, strings.Fields(token)...)
	}
	if len(words) == 0 {
		return refuseWith(http.StatusBadRequest, "calendarserver-principal-search takes a search-token with text in it")
	}
	if err := checkTerms(words); err != nil {
		return err
	}
	// A name of several words is a whole one when they are together.
	whole := strings.Join(words, " ")
	return x.searchPeople(q.principalQuery, func(u calendar.User, is calendar.Comparison) bool {
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
