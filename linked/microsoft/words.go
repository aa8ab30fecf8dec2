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

// unheld are the properties of RFC 5545, 7986 and 9073 without a Graph field. X- properties are not listed: they are
// notes of programs and are dropped.
var unheld = []string{
	"ATTACH", "COLOR", "CONCEPT", "CONTACT", "EXRULE", "GEO", "IMAGE", "LINK", "RDATE", "REFID",
	"RELATED-TO", "RESOURCES",
	"STRUCTURED-DATA", "STYLED-DESCRIPTION", "URL",
}
