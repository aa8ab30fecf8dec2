package caldav

import (
	"errors"
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// propertyChanges are the results for all properties, and the changes of dead properties, which include elements
// whose attributes no code here interprets.
type propertyChanges struct {
	dav.Outcome
	kept []calendar.DeadProperty
}

// applyEdits applies the edits to p in order, and returns the result of each.
func applyEdits(x *request, all []dav.Edit, p *calendar.Properties, creating bool) propertyChanges {
	var o propertyChanges
	for _, e := range all {
		var refusal *dav.StatusError
		kept, err := applyEdit(x, e, p, creating)
		if err != nil {
			refusal = failureOf(err, x.details)
		}
		o.Add(e.Name, refusal)
		o.kept = append(o.kept, kept...)
	}
	return o
}

// applyEdit applies one edit, and returns the dead properties to store.
func applyEdit(x *request, e dav.Edit, p *calendar.Properties, creating bool) ([]calendar.DeadProperty, error) {
	row := x.byName[e.Name]
	if row == nil || (row.set != nil || row.arrange != nil) && row.on&x.at.kind() == 0 {
		return keepEdit(x, e)
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
	return keepEdit(x, e)
}

// keepEdit returns the change that stores the edit as a dead property.
func keepEdit(x *request, e dav.Edit) ([]calendar.DeadProperty, error) {
	if _, ok := (&resource{x: x, at: x.at}).holder(); !ok {
		return nil, dav.Refuse(http.StatusForbidden, "this resource stores no properties")
	}
	kept, err := keep(e)
	return []calendar.DeadProperty{kept}, err
}

// errRefused rolls back a change after one of its parts was refused.
var errRefused = errors.New("a property was refused")

// serveProppatch answers PROPPATCH.
func serveProppatch(x *request) error {
	return x.Proppatch(&x.at, func(all []dav.Edit) (dav.Outcome, error) {
		o, err := patchResource(x, all)
		return o.Outcome, err
	})
}

// patchResource changes the properties of a resource.
func patchResource(x *request, all []dav.Edit) (o propertyChanges, err error) {
	when, err := x.precondition()
	if err != nil {
		return o, err
	}
	if x.at.kind() == atCalendar {
		return patchCalendar(x, all)
	}
	r, err := x.find(x.at)
	if err != nil {
		return o, err
	}
	if err := r.beOwn(); err != nil {
		return o, err
	}
	if x.at.kind() == atProxy {
		return patchProxy(x, all)
	}
	if x.at.kind() == atInbox {
		return patchInbox(x, all)
	}
	if o = applyEdits(x, all, &calendar.Properties{}, false); o.Failed {
		return o, nil
	}
	h, _ := r.holder()
	return o, x.Service.SetDeadProperties(x.R.Context(), x.caller, h, o.kept, when)
}

// patchCalendar changes live and dead properties of a calendar in one transaction.
func patchCalendar(x *request, all []dav.Edit) (o propertyChanges, err error) {
	cal, err := x.calendarAt(x.at)
	if err == nil {
		err = unlessProposed(cal)
	}
	if err != nil {
		return o, err
	}
	err = x.Service.PatchCalendar(x.R.Context(), x.caller, cal.ID,
		func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
			if o = applyEdits(x, all, p, false); o.Failed {
				return nil, errRefused
			}
			return o.kept, nil
		})
	if errors.Is(err, errRefused) {
		err = nil
	}
	return o, err
}

// patchInbox changes the caller's scheduling settings.
func patchInbox(x *request, all []dav.Edit) (o propertyChanges, err error) {
	err = x.Service.PatchScheduling(x.R.Context(), x.caller, func(s *calendar.Scheduling) error {
		o = propertyChanges{}
		for _, e := range all {
			var refusal *dav.StatusError
			row := x.byName[e.Name]
			switch {
			case row == nil || row.on&atInbox == 0:
				refusal = dav.Refuse(http.StatusForbidden, "this resource stores no properties")
			case row.arrange == nil:
				refusal = dav.Breach("d:cannot-modify-protected-property", "only the server sets this property")
			default:
				if err := row.arrange(x, s, e.Value); err != nil {
					refusal = failureOf(err, x.details)
				}
			}
			o.Add(e.Name, refusal)
		}
		if o.Failed {
			return errRefused
		}
		return nil
	})
	if o.Failed {
		return o, nil
	}
	return o, err
}
