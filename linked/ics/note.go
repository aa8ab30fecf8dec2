package ics

import (
	"encoding/xml"
	"strings"

	"caldav-mcp-server/calendar"
)

// source is the property that Apple's apps use to record the address of a feed that they fetch themselves.
var source = calendar.PropertyName{Space: "http://calendarserver.org/ns/", Local: "source"}

// noted returns that address.
func noted(kept []calendar.DeadProperty) (url string, ok bool) {
	for _, p := range kept {
		if p.Name != source {
			continue
		}
		var value struct {
			Href string `xml:"DAV: href"`
		}
		if xml.Unmarshal([]byte(p.Value), &value) == nil && strings.TrimSpace(value.Href) != "" {
			return strings.TrimSpace(value.Href), true
		}
	}
	return "", false
}
