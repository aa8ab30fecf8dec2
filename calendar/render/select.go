package render

import (
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// Component selects parts of a component (RFC 4791 §9.6.1). One that names nothing selects everything: in the RFC's
// own example (§7.8.1), an empty VTIMEZONE returns the whole component.
type Component struct {
	Name string
	// AllProperties and AllComponents select all of them; Properties and Components have no effect then.
	AllProperties bool
	Properties    []Property
	AllComponents bool
	Components    []Component
}

// Property selects the properties of a name (RFC 4791 §9.6.4).
type Property struct {
	Name string
	// WithoutValue selects only the name and the parameters.
	WithoutValue bool
}

func (s *Component) everything() bool {
	return !s.AllProperties && !s.AllComponents && len(s.Properties) == 0 && len(s.Components) == 0
}

// prune removes the parts that are not selected.
func (s *Component) prune(c *ical.Component) {
	if s.everything() {
		return
	}
	if !s.AllProperties {
		s.pruneProperties(c)
	}
	if !s.AllComponents {
		s.pruneComponents(c)
	}
}

func (s *Component) pruneProperties(c *ical.Component) {
	for _, p := range slices.Collect(c.Properties()) {
		i := slices.IndexFunc(s.Properties, func(wanted Property) bool {
			return strings.EqualFold(wanted.Name, p.Name())
		})
		switch {
		case i < 0:
			c.RemoveProperty(p)
		case s.Properties[i].WithoutValue:
			p.SetValue("")
		}
	}
}

func (s *Component) pruneComponents(c *ical.Component) {
	for _, sub := range slices.Collect(c.Components()) {
		i := slices.IndexFunc(s.Components, func(wanted Component) bool {
			return strings.EqualFold(wanted.Name, sub.Name())
		})
		if i < 0 {
			c.RemoveComponent(sub)
			continue
		}
		s.Components[i].prune(sub)
	}
}
