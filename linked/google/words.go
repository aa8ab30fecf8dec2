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
	// colors are the eleven that Google has for events, as the names of CSS that are nearest to them (RFC 7986 §5.9), each
	// another one.
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

// Names of the properties in which we keep what iCalendar has no name for.
const (
	restName       = "X-GOOGLE-REST"
	typeName       = "X-GOOGLE-EVENT-TYPE"
	conferenceName = "X-GOOGLE-CONFERENCE"
	reminderName   = "X-GOOGLE-REMINDERS"
	// newConference, as the conference, asks for one.
	newConference = "CREATE"
)

// Names of their parameters.
const (
	zoneParam    = "X-GOOGLE-ZONE"
	titleParam   = "X-GOOGLE-TITLE"
	iconParam    = "X-GOOGLE-ICON"
	fileParam    = "X-GOOGLE-FILE-ID"
	profileParam = "X-GOOGLE-PROFILE"
	guestsParam  = "X-NUM-GUESTS"
	commentParam = "X-RESPONSE-COMMENT"
)

// What is in an event of ours beside what Google can say, it keeps under these names.
const (
	linesKey = "caldavLines"
	// lineBytes and linesBytes are less than what Google takes: 1,024 characters for one note, 32 kB for all.
	lineBytes  = 1000
	linesBytes = 28_000
)
