package caldav

import (
	"encoding/xml"
	"log/slog"
	"net/http"

	"caldav-mcp-server/caldav/calxml"
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar/service"
)

// plan lists the properties that a request asks for, looked up once for all of its resources.
type plan struct {
	dav.Plan[*resource]
	// flags are the flags of the planned properties, except for those of dead properties.
	flags propertyFlags
	// data is set if calendar-data is among the properties.
	data bool
}

// planItem is one property of a plan.
type planItem struct {
	name xml.Name
	row  *property // nil for a property that no row has
	// quiet is set if the client did not name the property.
	quiet bool
	// kept stands for all dead properties.
	kept bool
	// but are dead properties that kept leaves out, since another item writes them.
	but dav.Names
}

// write writes the element, or returns dav.ErrAbsent.
func (i *planItem) write(r *resource, m *dav.Markup, nameOnly bool) error {
	switch {
	case r.feed != nil:
		if row := r.x.ofLinks[i.name]; row != nil {
			return row.write(r, m, nameOnly)
		}
		return dav.ErrAbsent
	case i.kept:
		return r.writeAllDead(m, i.but, nameOnly)
	case i.row == nil, i.row.on&r.at.kind() == 0, i.row.flags&ofContent != 0 && r.calendar.Subscribed():
		if i.quiet {
			return dav.ErrAbsent // it is a dead property, which the kept item writes
		}
		return r.writeDead(i.name, m, nameOnly)
	}
	return i.row.write(r, m, nameOnly)
}

// item returns the item for a plan.
func (i planItem) item() dav.Item[*resource] {
	return dav.Item[*resource]{Name: i.name, Quiet: i.quiet, Write: i.write}
}

// planner looks up the properties of a plan, and notes their flags.
type planner struct {
	*Handler
	// report is set if calendar-data can be asked for.
	report bool
	flags  propertyFlags
	data   bool
}

// Named implements [dav.Table].
func (t *planner) Named(n xml.Name) dav.Item[*resource] {
	i := planItem{name: n, row: t.byName[n]}
	if i.row != nil && i.row.flags&inReports != 0 {
		if t.report {
			t.data = true
		} else {
			i.row = nil
		}
	}
	if i.row != nil {
		t.flags |= i.row.flags
	}
	return i.item()
}

// All implements [dav.Table].
func (t *planner) All(all bool, but dav.Names) []dav.Item[*resource] {
	var items []dav.Item[*resource]
	for i := range t.properties {
		row := &t.properties[i]
		if all && row.flags&allprop == 0 || row.flags&inReports != 0 {
			continue
		}
		t.flags |= row.flags
		items = append(items, planItem{name: row.name, row: row, quiet: true}.item())
	}
	return append(items, planItem{quiet: true, kept: true, but: but}.item())
}

// planner returns a planner for the request.
func (x *request) planner() *planner {
	return &planner{Handler: x.Handler, report: x.R.Method == "REPORT"}
}

// plan completes a plan that the planner has made.
func (t *planner) plan(p dav.Plan[*resource]) plan { return plan{p, t.flags, t.data} }

// named plans for properties that a client names.
func (x *request) named(list []xml.Name) (plan, error) {
	t := x.planner()
	p, err := dav.PlanNamed(x.Exchange, t, list)
	return t.plan(p), err
}

// multistatus is a multistatus response about resources, with the planned properties of each.
type multistatus struct {
	*dav.Multistatus
	x    *request
	plan plan
}

// multistatus begins a response. It sends nothing yet, so that an error can still be reported.
func (x *request) multistatus(p plan) *multistatus {
	return &multistatus{x.Multistatus(), x, p}
}

// add writes the planned properties of a resource.
func (ms *multistatus) add(r *resource) error {
	return ms.Add(func() error {
		if ms.plan.data && r.lost() {
			ms.unread(r)
			return nil
		}
		return ms.plan.Response(ms.Markup, &r.at, r)
	})
}

// lost reports whether the text of an object or message was read and turned out to be lost.
func (r *resource) lost() bool {
	return r.at.kind()&(atObject|atItem) != 0 && r.object.Data != nil && r.object.CheckText() != nil
}

// unread gives one lost object the status 500: a client with a copy keeps it, and gets all other objects. The log
// names the object.
func (ms *multistatus) unread(r *resource) {
	ms.x.Logger.LogAttrs(ms.x.R.Context(), slog.LevelError, "an object cannot be shown",
		slog.String("method", ms.x.R.Method),
		slog.String("error", service.ForLog(r.object.CheckText())))
	ms.Status(&r.at, http.StatusInternalServerError)
}

// requested is the DAV:prop of a report. Its calendar-data may describe a shape.
type requested struct {
	names dav.Names
	data  *calxml.CalendarData
}

// UnmarshalXML reads the names, and the shape of calendar-data.
func (q *requested) UnmarshalXML(d *xml.Decoder, _ xml.StartElement) error {
	return dav.Within(d, func(t xml.StartElement) error {
		q.names = append(q.names, t.Name)
		if t.Name != caldavName("calendar-data") {
			return d.Skip()
		}
		q.data = &calxml.CalendarData{}
		return d.DecodeElement(q.data, &t)
	}, nil)
}

// planReport plans for the DAV:prop of a report. Without one, it plans for propname or allprop.
func planReport(x *request, q *requested, nameOnly bool) (plan, error) {
	if q == nil {
		t := x.planner()
		if nameOnly {
			return t.plan(dav.PlanNames(x.Exchange, t)), nil
		}
		return t.plan(dav.PlanAll(x.Exchange, t, true, nil)), nil
	}
	var err error
	if x.view.Shape, err = q.data.Shape(); err != nil {
		return plan{}, err
	}
	return x.named(q.names)
}
