package caldav

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// abovePrincipals are the addresses whose members, at any depth, the principals are.
const abovePrincipals = atEntrance | atRoot | atPrincipals

const (
	// principalsMax bounds the users in the answer to a search, which may be all that there are.
	principalsMax = 500
	// termsMax bounds what a search looks for, and termMax its bytes: all of it is compared to
	// every user. Clients' dialogs send a handful.
	termsMax = 64
	termMax  = 1000
	// nameMax bounds the name of a property or a component, and a namespace: an answer may say it for each object.
	nameMax = 1000
)

// checkTerms refuses to look for more than that.
func checkTerms(terms []string) error {
	long := func(term string) bool { return len(term) > termMax }
	if len(terms) > termsMax || slices.ContainsFunc(terms, long) {
		return refuseWith(http.StatusBadRequest, "a search is for no more than %d texts, each of no more than %d bytes", termsMax, termMax)
	}
	return nil
}

// searchable is a row of what users can be found by (RFC 3744 §9.5).
type searchable struct {
	name        xml.Name
	description string
	// values are what is compared: each on its own, since a user whom the caller does not know must be
	// named by a whole one.
	values func(addresses, calendar.User) []string
}

func searchables() []searchable {
	return []searchable{
		{dav("displayname"), "name", namesOf},
		{server("email-address-set"), "mail address", mailOf},
		{caldav("calendar-user-address-set"), "address as an attendee", addressesOf},
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

// principalSearchable answers RFC 3744 §9.5: by what users can be found. It is no
// multistatus.
func (x *exchange) principalSearchable(*resource, *struct{}) error {
	if err := x.depthZero(); err != nil {
		return err
	}
	m := x.markup()
	defer x.release(m)
	m.begin("d:principal-search-property-set")
	for _, row := range searchables() {
		m.raw("<d:principal-search-property><d:prop>")
		m.empty(row.name)
		m.raw(`</d:prop><d:description xml:lang="en">`).text(row.description).raw("</d:description></d:principal-search-property>")
	}
	m.raw("</d:principal-search-property-set>\n")
	x.reply(http.StatusOK, xmlType, m.buf)
	return nil
}

// principalSearch answers RFC 3744 §9.4: users by what their properties say.
func (x *exchange) principalSearch(_ *resource, q *propertySearches) error {
	if err := q.check(); err != nil {
		return err
	}
	if q.Prop != nil && len(q.Prop.names) == 0 {
		q.Prop.names = names(q.Beside)
	}
	return x.searchPeople(q.principalQuery, func(u calendar.User, is calendar.Comparison) bool { return q.matches(x.addresses, u, is) })
}

// principalQuery is what both searches for users say.
type principalQuery struct {
	// Limit is the form that Apple's clients give it in.
	Limit      *string    `xml:"http://calendarserver.org/ns/ limit>nresults"`
	Prop       *requested `xml:"DAV: prop"`
	Everywhere *struct{}  `xml:"DAV: apply-to-principal-collection-set"`
}

// searchPeople answers with the users who match.
func (x *exchange) searchPeople(q principalQuery, matches func(calendar.User, calendar.Comparison) bool) error {
	limit, err := resultLimit(q.Limit)
	if err == nil {
		err = x.depthZero()
	}
	if err != nil {
		return err
	}
	found, err := x.Service.FindPeople(x.r.Context(), x.caller, matches)
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
	return x.tellOf(all, q.Prop, limit)
}

// tellOf answers with what is asked of some resources, and says if there are more than may be told.
func (x *exchange) tellOf(list []*resource, wanted *requested, limit int) error {
	p, err := x.planFor(wanted, false)
	if err != nil {
		return err
	}
	ms := x.multistatus(p)
	for i, r := range list {
		if i == limit {
			ms.truncated(x.at)
			break
		}
		if err := ms.add(r); err != nil {
			return err
		}
	}
	return ms.end()
}

// propertySearches is DAV:principal-property-search (RFC 3744 §9.4). Its attributes are
// extensions that Apple's clients use.
type propertySearches struct {
	XMLName  xml.Name         `xml:"DAV: principal-property-search"`
	Test     string           `xml:"test,attr"`
	Type     string           `xml:"type,attr"`
	Searches []propertySearch `xml:"DAV: property-search"`
	// Beside are elements that are none of these. python-caldav puts the properties that it wants
	// beside a DAV:prop that is empty, in place of into it.
	Beside beside `xml:",any"`
	principalQuery
}

// beside are the names of elements that their parent does not expect.
type beside names

// UnmarshalXML takes the name of one of them.
func (b *beside) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	*b = append(*b, start.Name)
	return d.Skip()
}

type propertySearch struct {
	Prop  names `xml:"DAV: prop"`
	Match struct {
		Type string `xml:"match-type,attr"`
		Text string `xml:",chardata"`
	} `xml:"DAV: match"`
}

// matchTypes are the ways to compare that Apple's clients name; RFC 3744 has only the first.
var matchTypes = map[string]calendar.Match{
	"": calendar.Contains, "contains": calendar.Contains, "starts-with": calendar.StartsWith, "equals": calendar.Equals,
}

// check refuses a search that cannot be carried out. A search for nothing (RFC 3744 §9.4 has a DAV:property-search at
// least) is python-caldav's way to ask for everybody: see matches.
func (q *propertySearches) check() error {
	if q.Test != "" && q.Test != "allof" && q.Test != "anyof" {
		return refuseWith(http.StatusBadRequest, "test is allof or anyof")
	}
	var terms []string
	for _, s := range q.Searches {
		if len(s.Prop) == 0 {
			return refuseWith(http.StatusBadRequest, "a property-search takes a DAV:prop that names properties")
		}
		for range s.Prop {
			terms = append(terms, s.Match.Text)
		}
		if _, known := matchTypes[s.Match.Type]; !known {
			return refuseWith(http.StatusBadRequest, "match-type is contains, starts-with or equals")
		}
	}
	return checkTerms(terms)
}

// matches tells whether a user has what is searched for: all of it, unless any will do.
func (q *propertySearches) matches(a addresses, u calendar.User, is calendar.Comparison) bool {
	if q.Type != "" && !strings.EqualFold(q.Type, userType(u)) {
		return false
	}
	if len(q.Searches) == 0 {
		// A comparison that only those whom the caller knows can meet.
		return is(u.Name, "", calendar.Contains)
	}
	met := func(s propertySearch) bool { return s.matches(a, u, is) }
	if q.Test == "anyof" {
		return slices.ContainsFunc(q.Searches, met)
	}
	return !slices.ContainsFunc(q.Searches, func(s propertySearch) bool { return !met(s) })
}

// matches tells whether all of the properties match the text.
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
