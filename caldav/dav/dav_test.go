package dav_test

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"caldav-mcp-server/caldav/dav"
)

// The tests use resources of their own: this package must work without calendars.

// color is a resource with one property.
type color string

// AppendPath implements [dav.Address].
func (c color) AppendPath(dst []byte) []byte { return append(dst, "/colors/"+c...) }

// table has the property "light", which is absent from red, and refused by black.
type table struct{}

func (table) Named(n xml.Name) dav.Item[color] {
	return dav.Item[color]{Name: n, Write: func(c color, m *dav.Markup, nameOnly bool) error {
		switch {
		case n != dav.Name("light") || c == "red":
			return dav.ErrAbsent
		case c == "black":
			return dav.Breach("d:no-light", "black has none")
		case nameOnly:
			m.Empty(n)
		default:
			m.Element("d:light", string(c)+" & bright")
		}
		return nil
	}}
}

func (t table) All(bool, dav.Names) []dav.Item[color] {
	i := t.Named(dav.Name("light"))
	i.Quiet = true
	return []dav.Item[color]{i}
}

// exchange returns an exchange for a request, and the recorder of its response.
func exchange(t *testing.T, method, body string, header ...string) (*dav.Exchange, *httptest.ResponseRecorder) {
	t.Helper()
	lapsed := func(error) bool { return false }
	s := dav.NewServer(dav.DefaultLimits(), dav.NewNamespaces([2]string{"d", dav.NS}), "/base", lapsed)
	r := httptest.NewRequestWithContext(t.Context(), method, "/base/colors/", strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	return s.Exchange(w, r), w
}

func TestPropfind(t *testing.T) {
	t.Parallel()
	const (
		begin  = "<d:response><d:href>/base/colors/%</d:href><d:propstat><d:prop>"
		ok     = "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>"
		light  = begin + "<d:light>% &amp; bright</d:light>" + ok
		named  = begin + "<d:light/>" + ok
		absent = "<d:propstat><d:prop><d:dark/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>"
		none   = begin + ok
		end    = "</d:response>"
	)
	refused := begin + "<d:light/></d:prop><d:status>HTTP/1.1 403 Forbidden</d:status>" +
		"<d:error><d:no-light/></d:error>" +
		"<d:responsedescription>black has none</d:responsedescription></d:propstat>"
	for _, c := range []struct {
		name, body, prefer string
		of                 color
		want               string
	}{
		{"a property", "<prop><light/></prop>", "", "blue", light + end},
		{"twice", "<prop><light/><light/></prop>", "", "blue", light + end},
		{"one more", "<prop><light/><dark/></prop>", "", "blue", light + absent + end},
		{"minimal", "<prop><light/><dark/></prop>", "return=minimal", "blue", light + end},
		{"names", "<propname/>", "", "blue", named + end},
		{"all", "<allprop/>", "", "blue", light + end},
		{"all, and one more", "<allprop/><include><dark/></include>", "", "blue", light + absent + end},
		{"all of none", "<allprop/>", "", "red", none + end},
		{"refused", "<prop><light/></prop>", "", "black", refused + end},
	} {
		x, w := exchange(t, "PROPFIND", `<propfind xmlns="DAV:">`+c.body+`</propfind>`, "Prefer", c.prefer)
		q, err := x.Propfind()
		if err != nil {
			t.Fatal(c.name, err)
		}
		p, err := dav.PlanFind(x, table{}, &q)
		if err != nil {
			t.Fatal(c.name, err)
		}
		ms := x.Multistatus()
		if err := ms.Add(func() error { return p.Response(ms.Markup, c.of, c.of) }); err != nil {
			t.Fatal(c.name, err)
		}
		if err := ms.End(); err != nil {
			t.Fatal(c.name, err)
		}
		want := strings.ReplaceAll(c.want, "%", string(c.of))
		want = `<d:multistatus xmlns:d="DAV:">` + want + "</d:multistatus>"
		if got := w.Body.String(); w.Code != http.StatusMultiStatus || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s\nwant %s", c.name, w.Code, got, want)
		}
	}
}

func TestProppatch(t *testing.T) {
	t.Parallel()
	const body = `<propertyupdate xmlns="DAV:" xml:lang="en"><set><prop><light>x</light></prop></set>` +
		`<remove><prop><dark/></prop></remove></propertyupdate>`
	for _, c := range []struct {
		name, prefer string
		refusal      *dav.StatusError
		status       int
		want         string
	}{
		{
			"done", "", nil, http.StatusMultiStatus,
			"<d:prop><d:light/><d:dark/></d:prop><d:status>HTTP/1.1 200 OK</d:status>",
		},
		{"minimal", "return=minimal", nil, http.StatusOK, ""},
		{
			"refused", "return=minimal", dav.Refuse(http.StatusConflict, "no"), http.StatusMultiStatus,
			"<d:prop><d:dark/></d:prop><d:status>HTTP/1.1 409 Conflict</d:status>" +
				"<d:responsedescription>no</d:responsedescription></d:propstat>" +
				"<d:propstat><d:prop><d:light/></d:prop><d:status>HTTP/1.1 424 Failed Dependency</d:status>",
		},
	} {
		x, w := exchange(t, "PROPPATCH", body, "Prefer", c.prefer)
		err := x.Proppatch(color("blue"), func(all []dav.Edit) (o dav.Outcome, err error) {
			if len(all) != 2 || all[0].Text() != `<light xmlns="DAV:" xml:lang="en">x</light>` || all[1].Value != nil {
				t.Errorf("%s: %+v", c.name, all)
			}
			o.Add(all[0].Name, nil)
			o.Add(all[1].Name, c.refusal)
			return o, nil
		})
		if err != nil || w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %v, %d %s\nwant %d %s", c.name, err, w.Code, w.Body, c.status, c.want)
		}
	}
}

func TestDestinations(t *testing.T) {
	t.Parallel()
	for destination, here := range map[string]bool{
		"/a": true, "http://example.com/a": true, "https://EXAMPLE.com:8443/a": true, "https://dav.example.org/a": true,
		"https://example.net/a": false,
	} {
		x, _ := exchange(t, "MOVE", "", "Destination", destination)
		u, err := x.Destination()
		if err != nil || u.Path != "/a" || x.IsHere(u, "dav.example.org") != here {
			t.Errorf("%s: %v, %v, want %v", destination, u, err, here)
		}
	}
	for _, destination := range []string{"", "?", "mailto:a@example.com", "http://%"} {
		x, _ := exchange(t, "MOVE", "", "Destination", destination)
		if u, err := x.Destination(); err == nil {
			t.Errorf("%q is taken for %v", destination, u)
		}
	}
}

// TestRefusals: a failed condition is sent as XML, any other refusal as text.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failure     *dav.StatusError
		media, want string
	}{
		{dav.Refuse(http.StatusConflict, "not %s", "now"), "text/plain; charset=utf-8", "not now\n"},
		{dav.Breach("d:x", "a < b"), dav.XMLType, `<d:error xmlns:d="DAV:"><d:x/><error-description xmlns="http://`},
	} {
		x, w := exchange(t, "PUT", "")
		x.Refuse(c.failure)
		if w.Code != c.failure.Status || w.Header().Get("Content-Type") != c.media ||
			!strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%d %v %s\nwant %s", w.Code, w.Header(), w.Body, c.want)
		}
	}
}
