package caldav

import "net/http"

// Exports of the tables for the tests outside of this package, so that no test can miss a new row.

// Address is an address of the layout.
type Address struct {
	// Name is the path with its variable parts in braces.
	Name   string
	Object bool
	kind   kind
}

// Addresses lists the layout.
func Addresses() []Address {
	var all []Address
	for f, row := range layout {
		name := ""
		for _, part := range row.path {
			name += "/" + part
		}
		if row.kind&leaves == 0 {
			name += "/"
		}
		all = append(all, Address{
			Name: name, kind: row.kind, Object: addressForm(f) == formObject,
		})
	}
	return all
}

// Operation is a row of the methods or of the reports.
type Operation struct {
	// Name is the method's name, with the media type for a POST, or the local name of the report.
	Name string
	// Method is the method of the request.
	Method string
	// Needs is the needed privilege.
	Needs string
	on    kind
	// otherwise is the status for other kinds of resources; unlike is the status if only the method works there.
	otherwise int
	unlike    map[kind]int
}

// On reports whether the operation works on a kind of resource; if not, it also returns the status of the refusal.
func (o Operation) On(a Address) (bool, int) {
	if status, ok := o.unlike[a.kind]; ok {
		return false, status
	}
	return o.on&a.kind != 0, o.otherwise
}

// Operations lists methods and reports.
func Operations() []Operation {
	var all []Operation
	for _, m := range methodTable() {
		o := Operation{Name: m.name, Method: m.name, Needs: m.needs, on: m.on}
		if m.elsewhere != nil {
			o.otherwise = m.elsewhere.Status
			for _, row := range layout {
				if status := m.refusal(row.kind).Status; m.on&row.kind == 0 && status != o.otherwise {
					o.unlike = with(o.unlike, row.kind, status)
				}
			}
		}
		switch m.name {
		case "REPORT":
		case http.MethodPost:
			all = append(all, postings(o)...)
		default:
			all = append(all, o)
		}
	}
	for _, r := range reportTable() {
		all = append(all, Operation{
			Name: r.name.Local, Method: "REPORT", Needs: "d:read", on: r.on, otherwise: http.StatusForbidden,
		})
	}
	return all
}

// with adds to a map that may be nil.
func with(all map[kind]int, k kind, status int) map[kind]int {
	if all == nil {
		all = map[kind]int{}
	}
	all[k] = status
	return all
}

// postings lists the kinds of POST by media type.
func postings(post Operation) []Operation {
	var all []Operation
	at := map[string]int{}
	for _, p := range posts {
		media := p.media[len(p.media)-1]
		i, known := at[media]
		if !known {
			i, at[media] = len(all), len(all)
			o := post
			o.Name, o.on, o.unlike = "POST "+media, 0, map[kind]int{
				atHome: http.StatusUnsupportedMediaType, atCalendar: http.StatusUnsupportedMediaType,
				atOutbox: http.StatusUnsupportedMediaType,
			}
			all = append(all, o)
		}
		all[i].on |= p.on
		delete(all[i].unlike, p.on)
	}
	return all
}
