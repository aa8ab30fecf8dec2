package google

import "caldav-mcp-server/linked/vevent"

var (
	answers = vevent.Pairs{
		{"needsAction", "NEEDS-ACTION"},
		{"declined", "DECLINED"},
		{"tentative", "TENTATIVE"},
		{"accepted", "ACCEPTED"},
	}
	visibilities = vevent.Pairs{{"public", "PUBLIC"}, {"private", "PRIVATE"}, {"confidential", "CONFIDENTIAL"}}
	states       = vevent.Pairs{{confirmed, "CONFIRMED"}, {"tentative", "TENTATIVE"}, {cancelled, "CANCELLED"}}
	// colors maps Google's eleven event colors to the nearest CSS names (RFC 7986 §5.9), each different.
	colors = vevent.Pairs{
		{"1", "lightsteelblue"},
		{"2", "mediumseagreen"},
		{"3", "mediumorchid"},
		{"4", "lightcoral"},
		{"5", "gold"},
		{"6", "orangered"},
		{"7", "deepskyblue"},
		{"8", "dimgray"},
		{"9", "royalblue"},
		{"10", "green"},
		{"11", "crimson"},
	}
)

// Properties for data without an iCalendar equivalent.
const (
	restName       = "X-GOOGLE-REST"
	typeName       = "X-GOOGLE-EVENT-TYPE"
	conferenceName = "X-GOOGLE-CONFERENCE"
	reminderName   = "X-GOOGLE-REMINDERS"
	// newConference as the conference requests a new one.
	newConference = "CREATE"
)

// Their parameters.
const (
	zoneParam    = "X-GOOGLE-ZONE"
	titleParam   = "X-GOOGLE-TITLE"
	iconParam    = "X-GOOGLE-ICON"
	fileParam    = "X-GOOGLE-FILE-ID"
	profileParam = "X-GOOGLE-PROFILE"
	guestsParam  = "X-NUM-GUESTS"
	commentParam = "X-RESPONSE-COMMENT"
)

// Extended properties for data without a Google field.
const (
	linesKey = "caldavLines"
	// lineBytes and linesBytes stay below Google's limits: 1,024 characters per property, 32 kB in total.
	lineBytes  = 1000
	linesBytes = 28_000
)
