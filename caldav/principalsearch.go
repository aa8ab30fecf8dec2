package caldav

import (
	"encoding/xml"
	"errors"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// principals are the users that the caller can see: as yet none but oneself.
func (x *exchange) principals() []*resource {
	return []*resource{{x: x, at: principalOf(x.caller.User.Name)}}
}

// abovePrincipals are the addresses whose members, at any depth, the principals are.
const abovePrincipals = atEntrance | atRoot | atPrincipals

// searchable is a row of what users can be found by (RFC 3744 §9.5).
type searchable struct {
	name        xml.Name
	description string
}

func searchables() []searchable {
	return []searchable{
		{dav("displayname"), "name"},
		{server("email-address-set"), "mail address"},
		{caldav("calendar-user-address-set"), "address as an attendee"},
	}
}

// principalSearchable answers RFC 3744 §9.5: by what users can be found. It is no
// multistatus.
func (x *exchange) principalSearchable(d *xml.Decoder, _ xml.StartElement) error {
	if err := readAll(d, d.Skip()); err != nil {
		return err
	}
	if err := x.depthZero(); err != nil {
		return err
	}
	if _, err := x.find(x.at); err != nil {
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

// principalSearchRequest is DAV:principal-property-search (RFC 3744 §9.4). Its test is an
// extension that Apple's clients use.
type principalSearchRequest struct {
	XMLName    xml.Name         `xml:"DAV: principal-property-search"`
	Test       string           `xml:"test,attr"`
	Searches   []propertySearch `xml:"DAV: property-search"`
	Prop       *requested       `xml:"DAV: prop"`
	Everywhere *struct{}        `xml:"DAV: apply-to-principal-collection-set"`
}

type propertySearch struct {
	Prop  names  `xml:"DAV: prop"`
	Match string `xml:"DAV: match"`
}

// check refuses what asks for nothing.
func (q *principalSearchRequest) check() error {
	if q.Test != "" && q.Test != "allof" && q.Test != "anyof" {
		return refuseWith(http.StatusBadRequest, "test is allof or anyof")
	}
	if len(q.Searches) == 0 {
		return refuseWith(http.StatusBadRequest, "principal-property-search takes a property-search")
	}
	for _, s := range q.Searches {
		if len(s.Prop) == 0 {
			return refuseWith(http.StatusBadRequest, "a property-search takes a DAV:prop that names properties")
		}
	}
	return nil
}

// principalSearch answers RFC 3744 §9.4, among the users that the caller can see.
func (x *exchange) principalSearch(d *xml.Decoder, root xml.StartElement) error {
	var q principalSearchRequest
	if err := readAll(d, d.DecodeElement(&q, &root)); err != nil {
		return err
	}
	if err := x.depthZero(); err != nil {
		return err
	}
	if err := q.check(); err != nil {
		return err
	}
	if _, err := x.find(x.at); err != nil {
		return err
	}
	var among []*resource
	for _, r := range x.principals() {
		if q.Everywhere != nil || x.at.kind()&abovePrincipals != 0 || x.at == r.at {
			among = append(among, r)
		}
	}
	return x.tellOf(among, q.Prop, q.matches)
}

// tellOf answers with what is asked of those resources that match.
func (x *exchange) tellOf(list []*resource, wanted *requested, matches func(*resource) (bool, error)) error {
	p, err := x.planFor(wanted, false)
	if err != nil {
		return err
	}
	ms := x.multistatus(p)
	for _, r := range list {
		ok, err := matches(r)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := ms.add(r); err != nil {
			return err
		}
	}
	return ms.end()
}

// matches tells whether a principal has what is searched for: all of it, unless any will do.
func (q *principalSearchRequest) matches(r *resource) (bool, error) {
	anyOf := q.Test == "anyof"
	for _, s := range q.Searches {
		ok, err := s.matches(r)
		if err != nil || ok == anyOf {
			return ok, err
		}
	}
	return !anyOf, nil
}

// matches tells whether all of the properties contain the text; case does not matter.
func (s *propertySearch) matches(r *resource) (bool, error) {
	wanted := strings.ToLower(strings.TrimSpace(s.Match))
	for _, n := range s.Prop {
		if !slices.ContainsFunc(searchables(), func(row searchable) bool { return row.name == n }) {
			return false, nil
		}
		text, err := r.characters(r.x.byName[n])
		if err != nil || !strings.Contains(strings.ToLower(text), wanted) {
			return false, err
		}
	}
	return true, nil
}

// tag is an element's beginning or end in what we write ourselves.
var tag = regexp.MustCompile(`<[^>]*>`)

// characters is the character data of a property's value, which RFC 3744 §9.4 compares.
func (r *resource) characters(p *property) (string, error) {
	m := r.x.markup()
	defer r.x.release(m)
	if err := p.write(r, m, false); err != nil && !errors.Is(err, errAbsent) {
		return "", err
	}
	return html.UnescapeString(string(tag.ReplaceAll(m.buf, []byte(" ")))), nil
}
