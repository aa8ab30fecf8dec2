package caldav

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// abovePrincipals are the addresses that have the principals as members, at any depth.
const abovePrincipals = atEntrance | atRoot | atPrincipals

const (
	// principalsMax limits the users in the result of a search, which may match all users.
	principalsMax = 500
	// termsMax limits the number of search terms, and termMax their bytes: each term is compared with every user.
	// Clients' dialogs send a handful.
	termsMax = 64
	termMax  = 1000
)

// checkTerms refuses terms beyond these limits.
func checkTerms(terms []string) error {
	long := func(term string) bool { return len(term) > termMax }
	if len(terms) > termsMax || slices.ContainsFunc(terms, long) {
		return dav.Refuse(http.StatusBadRequest, "a search may have at most %d texts of at most %d bytes each",
			termsMax, termMax)
	}
	return nil
}

// searchable is a property that users can be searched by (RFC 3744 §9.5).
type searchable struct {
	name        xml.Name
	description string
	// values are compared one by one: the caller must give the complete value to find a user they do not know.
	values func(addresses, calendar.User) []string
}

func searchables() []searchable {
	return []searchable{
		{dav.Name("displayname"), "name", namesOf},
		{server("email-address-set"), "mail address", mailOf},
		{caldavName("calendar-user-address-set"), "address as an attendee", addressesOf},
	}
}

func namesOf(_ addresses, u calendar.User) []string { return []string{u.Title(), u.Name} }

func mailOf(_ addresses, u calendar.User) []string {
	if u.Email == "" {
		return nil
	}
	return []string{u.Email}
}

func addressesOf(a addresses, u calendar.User) []string {
	all := []string{a.href(principalOf(u.Name))}
	for _, mail := range mailOf(a, u) {
		all = append(all, mail, "mailto:"+mail)
	}
	return all
}

// principalSearchable answers RFC 3744 §9.5 with the list of searchable properties. The response is no multistatus.
func principalSearchable(x *request, _ *resource, _ *struct{}) error {
	if err := x.DepthZero(); err != nil {
		return err
	}
	m := x.Markup()
	defer x.Release(m)
	m.Begin("d:principal-search-property-set")
	for _, row := range searchables() {
		m.Raw("<d:principal-search-property><d:prop>")
		m.Empty(row.name)
		m.Raw(`</d:prop><d:description xml:lang="en">`).Text(row.description)
		m.Raw("</d:description></d:principal-search-property>")
	}
	m.Raw("</d:principal-search-property-set>\n")
	x.Reply(http.StatusOK, dav.XMLType, m.Buf)
	return nil
}

// principalSearch answers RFC 3744 §9.4: it finds users by the values of their properties.
func principalSearch(x *request, _ *resource, q *propertySearches) error {
	if err := q.check(); err != nil {
		return err
	}
	if q.Prop != nil && len(q.Prop.names) == 0 {
		q.Prop.names = dav.Names(q.Beside)
	}
	return searchPeople(x, q.principalQuery,
		func(u calendar.User, is calendar.Comparison) bool { return q.matches(x.addresses, u, is) })
}

// principalQuery holds the elements common to both kinds of user search.
type principalQuery struct {
	// Limit is in the form of Apple's clients.
	Limit      *string    `xml:"http://calendarserver.org/ns/ limit>nresults"`
	Prop       *requested `xml:"DAV: prop"`
	Everywhere *struct{}  `xml:"DAV: apply-to-principal-collection-set"`
}

// searchPeople answers with the matching users.
func searchPeople(x *request, q principalQuery, matches func(calendar.User, calendar.Comparison) bool) error {
	limit, err := resultLimit(q.Limit)
	if err == nil {
		err = x.DepthZero()
	}
	if err != nil {
		return err
	}
	found, err := x.Service.FindPeople(x.R.Context(), x.caller, matches)
	if err != nil {
		return err
	}
	if q.Everywhere == nil && x.at.kind()&abovePrincipals == 0 {
		found = slices.DeleteFunc(found, func(u calendar.User) bool { return x.at != principalOf(u.Name) })
	}
	if limit == 0 || limit > principalsMax {
		limit = principalsMax
	}
	all := make([]*resource, 0, len(found))
	for _, u := range found {
		all = append(all, x.principal(u))
	}
	return writeResources(x, all, q.Prop, limit)
}

// writeResources writes the requested properties of up to limit resources, and reports if there are more.
func writeResources(x *request, list []*resource, wanted *requested, limit int) error {
	p, err := planReport(x, wanted, false)
	if err != nil {
		return err
	}
	ms := x.multistatus(p)
	for i, r := range list {
		if i == limit {
			ms.Truncated(&x.at)
			break
		}
		if err := ms.add(r); err != nil {
			return err
		}
	}
	return ms.End()
}

// propertySearches is DAV:principal-property-search (RFC 3744 §9.4). Its attributes are extensions used by Apple's
// clients.
type propertySearches struct {
	XMLName  xml.Name         `xml:"DAV: principal-property-search"`
	Test     string           `xml:"test,attr"`
	Type     string           `xml:"type,attr"`
	Searches []propertySearch `xml:"DAV: property-search"`
	// Beside are unexpected elements. python-caldav sends an empty DAV:prop, and the properties that it requests next
	// to it instead of in it.
	Beside beside `xml:",any"`
	principalQuery
}

// beside are the names of unexpected child elements.
type beside dav.Names

// UnmarshalXML adds the name of an element.
func (b *beside) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	*b = append(*b, start.Name)
	return d.Skip()
}

type propertySearch struct {
	Prop  dav.Names `xml:"DAV: prop"`
	Match struct {
		Type string `xml:"match-type,attr"`
		Text string `xml:",chardata"`
	} `xml:"DAV: match"`
}

// matchTypes are the comparisons that Apple's clients use. RFC 3744 defines only the first.
var matchTypes = map[string]calendar.Match{
	"": calendar.Contains, "contains": calendar.Contains, "starts-with": calendar.StartsWith, "equals": calendar.Equals,
}

// check refuses a search that cannot be executed. python-caldav lists all users by sending no DAV:property-search,
// even though RFC 3744 §9.4 requires one; see matches.
func (q *propertySearches) check() error {
	if q.Test != "" && q.Test != "allof" && q.Test != "anyof" {
		return dav.Refuse(http.StatusBadRequest, "test must be allof or anyof")
	}
	var terms []string
	for _, s := range q.Searches {
		if len(s.Prop) == 0 {
			return dav.Refuse(http.StatusBadRequest, "a property-search needs a DAV:prop that names properties")
		}
		for range s.Prop {
			terms = append(terms, s.Match.Text)
		}
		if _, known := matchTypes[s.Match.Type]; !known {
			return dav.Refuse(http.StatusBadRequest, "match-type must be contains, starts-with or equals")
		}
	}
	return checkTerms(terms)
}

// matches reports whether a user meets all searches, or any of them with test="anyof".
func (q *propertySearches) matches(a addresses, u calendar.User, is calendar.Comparison) bool {
	if q.Type != "" && !strings.EqualFold(q.Type, userType(u)) {
		return false
	}
	if len(q.Searches) == 0 {
		// A comparison that is true only for users whom the caller knows.
		return is(u.Name, "", calendar.Contains)
	}
	met := func(s propertySearch) bool { return s.matches(a, u, is) }
	if q.Test == "anyof" {
		return slices.ContainsFunc(q.Searches, met)
	}
	return !slices.ContainsFunc(q.Searches, func(s propertySearch) bool { return !met(s) })
}

// matches reports whether all of the properties match the text.
func (s *propertySearch) matches(a addresses, u calendar.User, is calendar.Comparison) bool {
	text, how := strings.TrimSpace(s.Match.Text), matchTypes[s.Match.Type]
	for _, n := range s.Prop {
		rows := searchables()
		i := slices.IndexFunc(rows, func(row searchable) bool { return row.name == n })
		if i < 0 || !slices.ContainsFunc(rows[i].values(a, u), func(v string) bool { return is(v, text, how) }) {
			return false
		}
	}
	return true
}

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
	named := func(name string) bool { return is(name, text, calendar.Contains) }
	reached := func(mail string) bool { return is(mail, text, calendar.StartsWith) }
	return slices.ContainsFunc(namesOf(addresses{}, u), named) || slices.ContainsFunc(mailOf(addresses{}, u), reached)
}
