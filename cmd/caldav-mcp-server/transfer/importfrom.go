package transfer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/emersion/go-webdav/caldav"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/intake"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
	"caldav-mcp-server/ical"
)

// remoteServer is another server, as a user of it sees it.
type remoteServer struct{ *davclient.Client }

// remoteCalendar is a calendar on another server.
type remoteCalendar struct {
	at         *url.URL
	properties calendar.Properties
}

// server imports the calendars of a user on another server.
func (i *importing) server(ctx context.Context, password string) error {
	base, err := davclient.ServerURL("--from", i.from)
	if err != nil {
		return console.UsageError{Err: err}
	}
	client := remoteServer{davclient.New(base, i.fromUser, password)}
	i.bar.Tell("asking %s for its calendars …", base.Host)
	found, err := client.calendars(ctx, base)
	if err != nil {
		return fmt.Errorf("looking for the calendars of %s at %s: %w", i.fromUser, base.Host, err)
	}
	if i.calendar != "" {
		found = slices.DeleteFunc(found, func(c remoteCalendar) bool {
			return !strings.EqualFold(c.properties.Name, i.calendar) && davclient.LastSegment(c.at) != i.calendar
		})
	}
	if len(found) == 0 {
		return fmt.Errorf("%s has no such calendar at %s", i.fromUser, base.Host)
	}
	for _, from := range found {
		if err := i.remote(ctx, client, from); err != nil {
			return err
		}
	}
	return nil
}

// calendars finds the user's calendars as a client does that knows only a host name.
func (c remoteServer) calendars(ctx context.Context, base *url.URL) ([]remoteCalendar, error) {
	home, err := c.findHome(ctx, base)
	if err != nil {
		return nil, err
	}
	finder, err := caldav.NewClient(c, home.String())
	if err != nil {
		return nil, err
	}
	listed, err := finder.FindCalendars(ctx, home.Path)
	if err != nil {
		return nil, err
	}
	var all []remoteCalendar
	for _, l := range listed {
		r := remoteCalendar{
			at: home.ResolveReference(&url.URL{Path: l.Path}), properties: calendar.Properties{Name: l.Name},
		}
		if l.Description != "" {
			r.properties.Description = &l.Description
		}
		for _, word := range l.SupportedComponentSet {
			if kind := calendar.Kind(strings.ToUpper(word)); calendar.AllKinds().Has(kind) {
				r.properties.Kinds = append(r.properties.Kinds, kind)
			}
		}
		if err := c.describe(ctx, &r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// findHome tries the given URL first, and then the well-known URL of RFC 6764 §5. The home may be on another host of
// the provider, so the result is a full URL.
func (c remoteServer) findHome(ctx context.Context, base *url.URL) (*url.URL, error) {
	var failed error
	for _, start := range []*url.URL{base, base.ResolveReference(&url.URL{Path: "/.well-known/caldav"})} {
		finder, err := caldav.NewClient(c, start.String())
		if err != nil {
			return nil, err
		}
		principal, err := finder.FindCurrentUserPrincipal(ctx)
		if err != nil {
			// The user knows the given URL, so its error is more useful.
			if failed == nil {
				failed = err
			}
			continue
		}
		return c.homeOf(ctx, start.ResolveReference(&url.URL{Path: principal}))
	}
	return nil, failed
}

func (c remoteServer) homeOf(ctx context.Context, principal *url.URL) (*url.URL, error) {
	found, err := c.Ask(ctx, "PROPFIND", principal, "0", davclient.PropfindBody("c:calendar-home-set"))
	if err != nil {
		return nil, err
	}
	for _, r := range found.Responses {
		if href := r.PropHref(davclient.CalDAV, "calendar-home-set"); href != "" {
			home, err := davclient.Resolve(principal, href)
			if err == nil && !c.Trusts(home) {
				err = fmt.Errorf("the calendars are at %s, which must not get the password: give that server's URL",
					home.Host)
			}
			return home, err
		}
	}
	return nil, fmt.Errorf("%s has no calendar home", principal)
}

// describe reads the properties that go-webdav does not: color, order and time zone.
func (c remoteServer) describe(ctx context.Context, r *remoteCalendar) error {
	found, err := c.Ask(ctx, "PROPFIND", r.at, "0",
		davclient.PropfindBody("a:calendar-color", "a:calendar-order", "c:calendar-timezone"))
	if err != nil {
		return err
	}
	for _, answer := range found.Responses {
		if color, err := calendar.ParseColor(answer.Prop(davclient.Apple, "calendar-color").Trimmed()); err == nil {
			r.properties.Color = &color
		}
		if order, err := strconv.ParseInt(answer.Prop(davclient.Apple, "calendar-order").Trimmed(), 10, 64); err ==
			nil {
			r.properties.Order = &order
		}
		if text := answer.Prop(davclient.CalDAV, "calendar-timezone").Trimmed(); text != "" {
			r.properties.Timezone = zoneNamed(text)
		}
	}
	return nil
}

// zoneNamed returns the zone of a calendar-timezone property, or "" if its name is unknown.
func zoneNamed(text string) string {
	doc, err := ical.Parse([]byte(text), ical.DefaultLimits())
	if err != nil {
		return ""
	}
	root, err := doc.Calendar()
	if err != nil {
		return ""
	}
	for _, z := range root.AllComponents("VTIMEZONE") {
		if known, err := zone.Lookup(content.TextOf(z, "TZID")); err == nil {
			return known.Name()
		}
	}
	return ""
}

// remote imports one calendar.
func (i *importing) remote(ctx context.Context, client remoteServer, from remoteCalendar) error {
	i.bar.Tell("asking for the content of %s …", from.properties.Name)
	if len(from.properties.Kinds) == 0 {
		from.properties.Kinds = calendar.AllKinds()
	}
	cal, made, err := i.into.Calendar(ctx, calendar.NewCalendar{
		Segment: addressOf(from.at), Properties: from.properties,
	})
	if err != nil {
		return err
	}
	objects, err := client.objects(ctx, from.at)
	if err != nil {
		return fmt.Errorf("listing %s: %w", from.at, err)
	}
	i.report.Calendars = append(i.report.Calendars, importedCalendar{
		From: from.at.String(), Name: cal.Name, Address: cal.Segment, Created: made, Objects: len(objects),
	})
	here, err := i.namesIn(ctx, cal)
	if err != nil {
		return err
	}
	for n, at := range objects {
		i.bar.Show(n, len(objects), cal.Name)
		name := calendar.ObjectName(davclient.LastSegment(at))
		if here[name] && !i.replace {
			i.report.count(calendar.ImportedSame)
			continue
		}
		if err := i.fetch(ctx, client, cal, at, name); err != nil {
			return err
		}
	}
	return nil
}

// addressOf is the URL segment of an imported calendar: the same as on the other server, if it is valid here.
func addressOf(at *url.URL) calendar.Segment { return intake.SafeSegment(davclient.LastSegment(at)) }

// objects lists the URLs of the objects in a calendar.
func (c remoteServer) objects(ctx context.Context, at *url.URL) ([]*url.URL, error) {
	found, err := c.Ask(ctx, "PROPFIND", at, "1", davclient.PropfindBody("d:getetag", "d:resourcetype"))
	if err != nil {
		return nil, err
	}
	var all []*url.URL
	for _, r := range found.Responses {
		to, err := davclient.Resolve(at, r.Href)
		if err != nil {
			return nil, err
		}
		if r.Prop(davclient.DAV, "resourcetype").Child(davclient.DAV, "collection") == nil &&
			strings.TrimRight(to.Path, "/") != strings.TrimRight(at.Path, "/") {
			if !c.Trusts(to) {
				return nil, fmt.Errorf("an object is at %s, which must not get the password", to.Host)
			}
			all = append(all, to)
		}
	}
	return all, nil
}

// namesIn returns the names of existing objects, which are not fetched again.
func (i *importing) namesIn(ctx context.Context, cal calendar.Calendar) (map[calendar.ObjectName]bool, error) {
	names := make(map[calendar.ObjectName]bool)
	for o, err := range i.Calendars.Objects(ctx, nil, i.Caller(), cal, calendar.ObjectQuery{}) {
		if err != nil {
			return nil, err
		}
		names[o.Name] = true
	}
	return names, nil
}

// fetch imports one object byte for byte.
func (i *importing) fetch(ctx context.Context, client remoteServer, cal calendar.Calendar, at *url.URL,
	name calendar.ObjectName,
) error {
	from := source{name: at.String()}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		err := &davclient.StatusError{Method: r.Method, URL: at.String(), Status: answer.StatusCode}
		if answer.StatusCode == http.StatusUnauthorized || answer.StatusCode >= http.StatusInternalServerError {
			return err
		}
		i.report.refuse(from, err) // it was deleted in the meantime, or is not readable
		return nil
	}
	most := i.Calendars.Limits().ObjectBytes
	data, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return i.store(ctx, cal, from, calendar.Import{Name: name, Data: data})
}
