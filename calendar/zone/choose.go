package zone

import (
	"fmt"
	"strings"
)

// Choose returns the IANA name of the zone that a user typed for themselves, in any case or as Windows writes it. An
// offset such as GMT+1 is refused, because it says nothing about summer.
func Choose(name string) (string, error) {
	z, err := NewDB().Ask(name)
	switch {
	case err != nil:
		return "", err
	case z.bare:
		return "", fmt.Errorf("%.100q is no time zone but an offset, which does not say what clocks show in summer; "+
			"use the name of a place, such as Europe/Berlin", name)
	}
	return z.name, nil
}

// Places returns the IANA names that users choose from: UTC, and all places in alphabetical order.
func Places() []string {
	places := []string{"UTC"}
	for name := range strings.FieldsSeq(ianaText) {
		area, _, ok := strings.Cut(name, "/")
		if ok && strings.Contains(" Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific ",
			" "+area+" ") {
			places = append(places, name)
		}
	}
	return places
}
