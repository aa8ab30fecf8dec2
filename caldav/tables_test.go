package caldav

import "net/http"

// What the tests outside of this package need to know of the tables, so that nothing that
// is added to them can be forgotten there.

// Address is an address of the layout.
type Address struct {
	// Name is the path with the varying parts in braces.
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
			Name: name, kind: row.kind, Object: form(f) == formObject,
		})
	}
	return all
}

// Operation is a row of the methods, or of the reports.
type Operation struct {
	// Name is the method's, or the local name of the report.
	Name string
	// Needs is the privilege that it takes.
	Needs string
	on    kind
	// otherwise is the status where it does not work.
	otherwise int
}

// On tells whether the operation works on a kind of resource; if not, with what status it
// is refused.
func (o Operation) On(a Address) (bool, int) { return o.on&a.kind != 0, o.otherwise }

// Operations lists methods and reports.
func Operations() []Operation {
	var all []Operation
	for _, m := range methods() {
		o := Operation{Name: m.name, Needs: m.needs, on: m.on}
		if m.elsewhere != nil {
			o.otherwise = m.elsewhere.status
		}
		if m.name != "REPORT" {
			all = append(all, o)
		}
	}
	for _, r := range reports() {
		all = append(all, Operation{Name: r.name.Local, Needs: "d:read", on: r.on, otherwise: http.StatusForbidden})
	}
	return all
}
