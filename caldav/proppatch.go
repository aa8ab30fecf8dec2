package caldav

import (
	"errors"
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// changes are the results for all properties, and the changes of dead properties, which include elements whose
// attributes no code here interprets.
type changes struct {
	dav.Outcome
	kept []calendar.DeadProperty
}

// apply applies the edits to p in order, and returns the result of each.
func (x *exchange) apply(all []dav.Edit, p *calendar.Properties, creating bool) changes {
	var o changes
	for _, e := range all {
		var refusal *dav.Failure
		kept, err := x.set(e, p, creating)
		if err != nil {
			refusal = x.failureOf(err)
		}
		o.Add(e.Name, refusal)
		o.kept = append(o.kept, kept...)
	}
	return o
}

// set applies one edit, and returns the dead properties to store.
func (x *exchange) set(e dav.Edit, p *calendar.Properties, creating bool) ([]calendar.DeadProperty, error) {
	row := x.byName[e.Name]
	if row == nil || (row.set != nil || row.arrange != nil) && row.on&x.at.kind() == 0 {
		return x.keep(e)
	}
	if row.set == nil || x.at.kind() != atCalendar || row.flags&atCreation != 0 && !creating {
		return nil, dav.Breach("d:cannot-modify-protected-property", "only the server sets this property")
	}
	if err := row.set(p, e.Value); err != nil {
		return nil, err
	}
	if e.Value == nil || !e.Value.IsDressed() && e.Lang == "" {
		e.Value = nil
	}
	return x.keep(e)
}

// keep returns the change that stores the edit as a dead property.
func (x *exchange) keep(e dav.Edit) ([]calendar.DeadProperty, error) {
	if _, ok := (&resource{x: x.reader, at: x.at}).holder(); !ok {
		return nil, dav.Refuse(http.StatusForbidden, "this resource stores no properties")
	}
	kept, err := keep(e)
	return []calendar.DeadProperty{kept}, err
}

// errRefused rolls back a change after one of its parts was refused.
var errRefused = errors.New("a property was refused")

// proppatch answers PROPPATCH (RFC 4918 §9.2).
func (x *exchange) proppatch() error {
	var q dav.PropertyUpdate
	if err := x.Read(&q); err != nil {
		return err
	}
	all := dav.EditsOf(q.Instructions, q.Lang)
	if len(all) == 0 {
		return dav.Refuse(http.StatusBadRequest, "DAV:propertyupdate names no property")
	}
	o, err := x.patch(all)
	if err != nil {
		return err
	}
	if !o.Failed && x.Prefers(dav.Minimal) {
		return x.Blank(http.StatusOK) // RFC 8144 §2.2
	}
	ms := x.multistatus(plan{})
	ms.Raw("<d:response>").Href(&x.at)
	o.Write(ms.Markup)
	ms.Raw("</d:response>")
	return ms.End()
}

// patch changes the properties of a resource.
func (x *exchange) patch(all []dav.Edit) (o changes, err error) {
	when, err := x.precondition()
	if err != nil {
		return o, err
	}
	if x.at.kind() == atCalendar {
		return x.patchCalendar(all)
	}
	r, err := x.find(x.at)
	if err != nil {
		return o, err
	}
	if err := r.beOwn(); err != nil {
		return o, err
	}
	if x.at.kind() == atInbox {
		return x.patchInbox(all)
	}
	if o = x.apply(all, &calendar.Properties{}, false); o.Failed {
		return o, nil
	}
	h, _ := r.holder()
	return o, x.Service.SetDeadProperties(x.R.Context(), x.caller, h, o.kept, when)
}

// patchCalendar changes live and dead properties of a calendar in one transaction.
func (x *exchange) patchCalendar(all []dav.Edit) (o changes, err error) {
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return o, err
	}
	err = x.Service.PatchCalendar(x.R.Context(), x.caller, cal.ID, func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
		if o = x.apply(all, p, false); o.Failed {
			return nil, errRefused
		}
		return o.kept, nil
	})
	if errors.Is(err, errRefused) {
		err = nil
	}
	return o, err
}
