package zone

import (
	_ "embed"
	"strings"
	"time"
)

// ianaText lists the names of tzdata, links included.
//
//go:embed data/iana.txt
var ianaText string

// windowsText is CLDR's windowsZones for territory 001, with the display names of Windows and Outlook.
//
//go:embed data/windows.txt
var windowsText string

// names finds IANA names. Its keys are in lower case.
type names struct {
	listed    []string
	canonical map[string]string // IANA name → as IANA writes it
	cities    map[string]string
	byWindows map[string]string
	byDisplay map[string]string
}

func readNames() *names {
	n := &names{
		listed:    strings.Fields(ianaText),
		canonical: make(map[string]string), cities: make(map[string]string),
		byWindows: make(map[string]string), byDisplay: make(map[string]string),
	}
	for _, name := range n.listed {
		lower := strings.ToLower(name)
		n.canonical[lower] = name
		if slash := strings.LastIndexByte(lower, '/'); slash > 0 && !strings.HasPrefix(lower, "etc/") {
			city := strings.ReplaceAll(lower[slash+1:], "_", " ")
			if _, taken := n.cities[city]; !taken {
				n.cities[city] = name
			}
		}
	}
	for line := range strings.Lines(windowsText) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		n.byWindows[strings.ToLower(fields[0])] = fields[1]
		if fields[2] != "" {
			n.byDisplay[strings.ToLower(fields[2])] = fields[1]
		}
	}
	return n
}

// areas are the first parts of IANA names.
const areas = " Africa America Antarctica Arctic Asia Atlantic Australia Brazil Canada Chile Etc Europe Indian " +
	"Mexico Pacific US "

// iana reads the names of tzdata in any case. The operating system may know newer zones than our list. A name outside
// the areas must not reach it: "Local", "" and "localtime" would be the server's own zone or UTC.
func (n *names) iana(name string) string {
	if found := n.canonical[strings.ToLower(name)]; found != "" {
		return found
	}
	if strings.EqualFold(name, "Z") {
		return "UTC"
	}
	area, _, ok := strings.Cut(name, "/")
	if !ok || !strings.Contains(areas, " "+area+" ") {
		return ""
	}
	return name
}

// windows reads Windows zone names, and their daylight-time variants, which some clients write in summer.
func (n *names) windows(name string) string {
	lower := strings.ToLower(name)
	if found := n.byWindows[lower]; found != "" {
		return found
	}
	return n.byWindows[strings.Replace(lower, " daylight time", " standard time", 1)]
}

// suffix reads names with a prefix: /freeassociation.sourceforge.net/Tzfile/Europe/Berlin (Evolution),
// /mozilla.org/20050126_1/Europe/Berlin, tzone://Microsoft/Utc.
func (n *names) suffix(name string) string {
	parts := strings.Split(name, "/")
	global := strings.HasPrefix(name, "/") || strings.Contains(name, "://")
	if len(parts) > 16 {
		return ""
	}
	for i := 1; i < len(parts); i++ {
		if found := n.canonical[strings.ToLower(strings.Join(parts[i:], "/"))]; found != "" &&
			(global || i < len(parts)-1) {
			return found
		}
	}
	return ""
}

// display reads Windows display names: "(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna". The offset is
// optional. It may be written with GMT, or be the offset of summer.
func (n *names) display(name string) string {
	if _, rest, ok := cutOffset(name); ok {
		name = rest
	}
	return n.byDisplay[strings.ToLower(name)]
}

// city reads names from Outlook and Lotus that list other cities than Windows does. It also returns the offset that the
// zone should have.
func (n *names) city(name string) (iana string, offset int64, ok bool) {
	offset, rest, ok := cutOffset(name)
	if !ok {
		return "", 0, false
	}
	for _, city := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(",/;", r) }) {
		if found := n.cities[strings.ToLower(strings.TrimSpace(city))]; found != "" {
			return found, offset, true
		}
	}
	return "", 0, false
}

// cutOffset cuts a prefix such as "(UTC+01:00) " off a name.
func cutOffset(name string) (offset int64, rest string, ok bool) {
	head, rest, ok := strings.Cut(name, ")")
	head, opened := strings.CutPrefix(head, "(")
	if !ok || !opened {
		return 0, "", false
	}
	offset, ok = readOffset(head)
	return offset, strings.TrimSpace(rest), ok
}

// fixed reads names that are only an offset: UTC+2, GMT-0500, +01:00.
func fixed(name string) *Zone {
	offset, ok := readOffset(name)
	if !ok {
		return nil
	}
	return &Zone{name: name, loc: time.FixedZone(name, int(offset)), bare: true}
}

// readOffset reads an offset, with or without UTC or GMT before the sign, in seconds. Etc/GMT+5, whose sign is
// reversed, is an IANA name and never gets here.
func readOffset(text string) (int64, bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	rest := strings.TrimPrefix(strings.TrimPrefix(text, "UTC"), "GMT")
	rest = strings.TrimSpace(strings.ReplaceAll(rest, "−", "-"))
	if rest == "" {
		return 0, text != ""
	}
	sign := int64(1)
	switch rest[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, false
	}
	hours, minutes, ok := readClock(rest[1:])
	if !ok || hours > 14 || minutes > 59 {
		return 0, false
	}
	return sign * (hours*3600 + minutes*60), true
}

// readClock reads 2, 02, 0200, 2:00, 02:00 and 02.00.
func readClock(text string) (hours, minutes int64, ok bool) {
	head, tail, split := strings.Cut(strings.ReplaceAll(text, ".", ":"), ":")
	if !split && len(head) == 4 {
		head, tail = head[:2], head[2:]
	}
	if len(head) < 1 || len(head) > 2 || len(tail) != 0 && len(tail) != 2 {
		return 0, 0, false
	}
	for _, field := range []struct {
		text string
		to   *int64
	}{{head, &hours}, {tail, &minutes}} {
		for _, digit := range field.text {
			if digit < '0' || digit > '9' {
				return 0, 0, false
			}
			*field.to = *field.to*10 + int64(digit-'0')
		}
	}
	return hours, minutes, true
}
