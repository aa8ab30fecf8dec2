package zone

import "strings"

// abbreviations maps the short names of zones to the zones that people mean by them, the likeliest first. The names of
// both half-years map to the same zone: PST written in July rarely means a clock without summer time.
var abbreviations = map[string][]string{
	"PST": {"America/Los_Angeles"}, "PDT": {"America/Los_Angeles"}, "PT": {"America/Los_Angeles"},
	"MST": {"America/Denver", "America/Phoenix"}, "MDT": {"America/Denver"}, "MT": {"America/Denver"},
	"CST": {"America/Chicago", "Asia/Shanghai", "America/Havana"}, "CDT": {"America/Chicago", "America/Havana"},
	"CT":  {"America/Chicago"},
	"EST": {"America/New_York", "America/Panama"}, "EDT": {"America/New_York"}, "ET": {"America/New_York"},
	"AKST": {"America/Anchorage"}, "AKDT": {"America/Anchorage"}, "HDT": {"America/Adak"},
	"AST": {"America/Halifax", "America/Puerto_Rico", "Asia/Riyadh"}, "ADT": {"America/Halifax"},
	"NST": {"America/St_Johns"}, "NDT": {"America/St_Johns"},
	"BRT": {"America/Sao_Paulo"}, "ART": {"America/Argentina/Buenos_Aires"}, "CLT": {"America/Santiago"},
	"CLST": {"America/Santiago"},
	"COT":  {"America/Bogota"}, "PET": {"America/Lima"},
	"BST": {"Europe/London", "Asia/Dhaka"}, "WEST": {"Europe/Lisbon"},
	"IST":  {"Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"},
	"CEST": {"Europe/Berlin", "Europe/Paris", "Europe/Madrid"}, "MEZ": {"Europe/Berlin"}, "MESZ": {"Europe/Berlin"},
	"EEST": {"Europe/Helsinki", "Europe/Athens", "Europe/Kyiv"}, "MSK": {"Europe/Moscow"}, "TRT": {"Europe/Istanbul"},
	"SAST": {"Africa/Johannesburg"}, "EAT": {"Africa/Nairobi"}, "WAT": {"Africa/Lagos"}, "CAT": {"Africa/Maputo"},
	"IDT": {"Asia/Jerusalem"}, "GST": {"Asia/Dubai", "Atlantic/South_Georgia"}, "PKT": {"Asia/Karachi"},
	"NPT": {"Asia/Kathmandu"},
	"ICT": {"Asia/Bangkok"}, "WIB": {"Asia/Jakarta"}, "SGT": {"Asia/Singapore"}, "HKT": {"Asia/Hong_Kong"},
	"PHT": {"Asia/Manila"},
	"JST": {"Asia/Tokyo"}, "KST": {"Asia/Seoul"}, "AWST": {"Australia/Perth"},
	"ACST": {"Australia/Adelaide", "Australia/Darwin"}, "ACDT": {"Australia/Adelaide"},
	"AEST": {"Australia/Sydney", "Australia/Brisbane"}, "AEDT": {"Australia/Sydney"},
	"NZST": {"Pacific/Auckland"}, "NZDT": {"Pacific/Auckland"},
}

// meanings returns the zones that an abbreviation can stand for, or nil if it is unknown.
func meanings(name string) []string { return abbreviations[strings.ToUpper(clean(name))] }

// abbreviated reads an abbreviation if it has one meaning only and that zone keeps the same offset all year.
func (db *DB) abbreviated(name string) *Zone {
	m := meanings(name)
	if len(m) != 1 {
		return nil
	}
	z := db.load(m[0])
	if z == nil || z.Segment(winter).Offset != z.Segment(summer).Offset {
		return nil
	}
	return z
}

// isAbbreviation reports whether a name looks like an abbreviation, known or not.
func isAbbreviation(name string) bool {
	const longest = 5
	return len(name) <= longest && strings.ToUpper(name) == name && strings.ToLower(name) != name ||
		meanings(name) != nil
}
