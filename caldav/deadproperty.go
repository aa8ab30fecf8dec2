package caldav

import (
	"encoding/xml"
	"net/http"
	"slices"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// holders are the kinds of resources that store dead properties, i.e. properties that no code here interprets.
var holders = [...]struct {
	kind  kind
	place calendar.Place
}{
	{atPrincipal, calendar.AtPrincipal},
	{atHome, calendar.AtHome},
	{atCalendar, calendar.AtCalendar},
	{atObject, calendar.AtObject},
}

// holder returns the key of the resource's dead properties, if its kind stores any.
func (r *resource) holder() (calendar.Holder, bool) {
	h := calendar.Holder{User: r.x.caller.User.ID, Calendar: r.calendar, Object: r.at.object}
	for _, row := range holders {
		if row.kind == r.at.kind() && r.other == nil {
			h.Place = row.place
			return h, true
		}
	}
	return h, false
}

// listDead returns the dead properties of the resource. It keeps store queries rare: a listing has many resources,
// and most of them have no dead properties.
func (r *resource) listDead() ([]calendar.DeadProperty, error) {
	if r.dead != nil && r.dead.of == r.at {
		return r.dead.list, nil
	}
	list, err := r.x.deadOf(r)
	r.dead = &deadProperties{r.at, list}
	return list, err
}

func (x *request) deadOf(r *resource) ([]calendar.DeadProperty, error) {
	h, ok := r.holder()
	if !ok {
		return nil, nil
	}
	listed := r.at != x.at
	switch {
	case listed && h.Place == calendar.AtCalendar:
		return x.deadInHome(r.calendar.ID)
	case listed && h.Place == calendar.AtObject:
		keepers, err := once(x, &x.cached.keepers, r.calendar, x.Service.DeadPropertyHolders)
		if err != nil || !keepers[r.at.object] {
			return nil, err
		}
	}
	return x.Service.DeadProperties(x.R.Context(), x.caller, h)
}

// deadInHome returns the dead properties of a calendar. The first call reads them for all calendars in the home.
func (x *request) deadInHome(id calendar.CalendarID) ([]calendar.DeadProperty, error) {
	if x.cached.homeDead == nil {
		var err error
		if x.cached.homeDead, err = x.Service.DeadPropertiesInHome(x.R.Context(), x.caller); err != nil {
			return nil, err
		}
	}
	return x.cached.homeDead[id], nil
}

// keptAs returns the stored value of the property n, or dav.ErrAbsent.
func (r *resource) keptAs(n xml.Name) (string, error) {
	list, err := r.listDead()
	if err != nil {
		return "", err
	}
	for _, k := range list {
		if k.Name.Space == n.Space && k.Name.Local == n.Local {
			return k.Value, nil
		}
	}
	return "", dav.ErrAbsent
}

// writeDead writes the dead property n.
func (r *resource) writeDead(n xml.Name, m *dav.Markup, nameOnly bool) error {
	value, err := r.keptAs(n)
	if err != nil {
		return err
	}
	if nameOnly {
		m.Empty(n)
		return nil
	}
	return m.Raw(value).OK()
}

// writeAllDead writes all dead properties except the names in but: RFC 4918 §9.1 includes them in allprop.
func (r *resource) writeAllDead(m *dav.Markup, but dav.Names, nameOnly bool) error {
	list, err := r.listDead()
	if err != nil {
		return err
	}
	for _, k := range list {
		n := xml.Name{Space: k.Name.Space, Local: k.Name.Local}
		if row := r.x.byName[n]; row != nil && row.on&r.at.kind() != 0 || slices.Contains(but, n) {
			continue
		}
		if nameOnly {
			m.Empty(n)
		} else {
			m.Raw(k.Value)
		}
	}
	return nil
}

// keep returns the change that stores the edit's element unchanged, or removes it.
func keep(e dav.Edit) (calendar.DeadProperty, error) {
	k := calendar.DeadProperty{Name: calendar.PropertyName{Space: e.Name.Space, Local: e.Name.Local}}
	if e.Value == nil {
		return k, nil
	}
	text := e.Text()
	if len(text) > calendar.MaxDeadPropertyBytes {
		// RFC 4918 §9.2.1 names this status.
		return k, dav.Refuse(http.StatusInsufficientStorage, "a property of more than %d bytes is not stored",
			calendar.MaxDeadPropertyBytes)
	}
	k.Value = text
	return k, nil
}
