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
