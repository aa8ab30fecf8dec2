package microsoft

import "caldav-mcp-server/linked/vevent"

// Values of Graph.
const (
	normal      = "normal"
	busy        = "busy"
	free        = "free"
	tentative   = "tentative"
	elsewhere   = "workingElsewhere"
	required    = "required"
	htmlBody    = "html"
	textBody    = "text"
	exceptional = "exception"
	master      = "seriesMaster"
)

var (
	sensitivities = vevent.Pairs{{"personal", "X-PERSONAL"}, {"private", "PRIVATE"}, {"confidential", "CONFIDENTIAL"}}
	// shown are the free/busy states that TRANSP cannot express, as Exchange writes them.
	shown = vevent.Pairs{
		{tentative, "TENTATIVE"}, {"oof", "OOF"}, {elsewhere, "WORKINGELSEWHERE"}, {"unknown", "UNKNOWN"},
	}
	kinds     = vevent.Pairs{{"optional", "OPT-PARTICIPANT"}}
	responses = vevent.Pairs{
		{"notResponded", "NEEDS-ACTION"},
		{"none", "NEEDS-ACTION"},
		{"accepted", "ACCEPTED"},
		{"organizer", "ACCEPTED"},
		{"tentativelyAccepted", "TENTATIVE"},
		{"declined", "DECLINED"},
	}
	weekdays = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	indexes  = [...]string{"first", "second", "third", "fourth", "last"}
)

// Properties for data without an iCalendar equivalent.
const (
	restName    = "X-MICROSOFT-REST"
	busyName    = "X-MICROSOFT-CDO-BUSYSTATUS"
	meetingName = "X-MICROSOFT-SKYPETEAMSMEETINGURL"
	zoneParam   = "X-MICROSOFT-ZONE"
)

// unheld are the properties that are refused: without a Graph field, the event would be at other times or have another
// description at Microsoft.
var unheld = []string{"EXRULE", "RDATE", "STYLED-DESCRIPTION"}

// mapped are the properties with a Graph field or set by Microsoft. The others are kept as lines in an open extension.
var mapped = []string{
	"UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE", "DTSTART", "DTEND", "DURATION", "RRULE", "EXDATE",
	"RECURRENCE-ID", "SUMMARY", "DESCRIPTION", "X-ALT-DESC", "LOCATION", "STATUS", "TRANSP", "CLASS", "PRIORITY",
	"CATEGORIES", "ORGANIZER", "ATTENDEE", "COMMENT",
}

// ofPlace are the kept properties that describe the place of LOCATION.
var ofPlace = []string{"GEO", "X-APPLE-STRUCTURED-LOCATION"}
