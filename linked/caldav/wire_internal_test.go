package caldav

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/mirror"
)

// A megabyte of empty elements would be gigabytes once it is read.
func TestACrowdedAnswerIsNotRead(t *testing.T) {
	t.Parallel()
	body := []byte(`<multistatus xmlns="DAV:"><response>` + strings.Repeat("<propstat/>", mostMarks) +
		`</response></multistatus>`)
	_, err := read(reply{status: http.StatusMultiStatus, body: body})
	if later, ok := errors.AsType[*mirror.Later](err); !ok || !strings.Contains(later.Why, "more than is read") {
		t.Errorf("got %v", err)
	}
	if rule := broken(body); rule != "" {
		t.Errorf("the rule %q", rule)
	}
}

func TestMailOfAddresses(t *testing.T) {
	t.Parallel()
	for want, all := range map[string]hrefs{
		"": {{Value: "/principals/ann/"}, {Value: "mailto:not an address"}},
		"ann@example.com": {
			{Value: "urn:uuid:1"}, {Value: " MAILTO:ann@example.com\n"}, {Value: "mailto:b@example.com"},
		},
		"b@example.com": {{Value: "mailto:ann@example.com"}, {Value: "mailto:b@example.com", Preferred: "1"}},
	} {
		if got := all.mail(); got != want {
			t.Errorf("the address is %q, want %q", got, want)
		}
	}
}
