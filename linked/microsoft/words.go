package microsoft

// pairs are words of both sides, Microsoft's first. Where several say the same, the first one is written.
type pairs [][2]string

func (p pairs) out(word string) string { return p.find(0, word) }

func (p pairs) in(word string) string { return p.find(1, word) }

func (p pairs) find(side int, word string) string {
	for _, pair := range p {
		if pair[side] == word {
			return pair[1-side]
		}
	}
	return ""
}

// Words of Graph.
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
	sensitivities = pairs{{"personal", "X-PERSONAL"}, {"private", "PRIVATE"}, {"confidential", "CONFIDENTIAL"}}
	// shown are the busy words that TRANSP cannot say, as Exchange writes them.
	shown     = pairs{{tentative, "TENTATIVE"}, {"oof", "OOF"}, {elsewhere, "WORKINGELSEWHERE"}, {"unknown", "UNKNOWN"}}
	kinds     = pairs{{"optional", "OPT-PARTICIPANT"}}
	responses = pairs{
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

// Names of the properties in which we keep what iCalendar has no name for.
const (
	restName    = "X-MICROSOFT-REST"
	busyName    = "X-MICROSOFT-CDO-BUSYSTATUS"
	meetingName = "X-MICROSOFT-SKYPETEAMSMEETINGURL"
	zoneParam   = "X-MICROSOFT-ZONE"
)

// unheld are the properties of RFC 5545, 7986 and 9073 for which Graph has no field. X- properties are notes of programs, and are
// left out.
var unheld = []string{
	"ATTACH", "COLOR", "COMMENT", "CONCEPT", "CONTACT", "EXRULE", "GEO", "IMAGE", "LINK", "RDATE", "REFID", "RELATED-TO", "RESOURCES",
	"STRUCTURED-DATA", "STYLED-DESCRIPTION", "URL",
}
