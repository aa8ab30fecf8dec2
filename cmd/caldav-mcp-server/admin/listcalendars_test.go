package admin

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

func TestSubscriptionsAreListedAsSuch(t *testing.T) {
	t.Parallel()
	feed := calendar.Calendar{
		OwnerName: "ann", Segment: "feed", Properties: calendar.Properties{Name: "Holidays"},
		Access: calendar.OwnerAccess,
	}
	if row := calendarRow(feed, time.Time{}); !slices.Contains(row, "(subscription)") {
		t.Errorf("%q", row)
	}
	text, err := json.Marshal(calendarJSON(feed))
	if err != nil || !strings.Contains(string(text), `"kinds":[]`) {
		t.Errorf("%s, %v", text, err)
	}
}
