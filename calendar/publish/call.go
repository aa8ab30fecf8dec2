package publish

import (
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// written are the properties that may contain links to calls.
var written = []string{"SUMMARY", "DESCRIPTION", "LOCATION", "URL", "CATEGORIES", "RESOURCES"}

// MeetingLink returns the first web address of a component's call, "" if there is none. Properties
// made for it come first.
func MeetingLink(c *ical.Component) string {
	for _, name := range []string{"CONFERENCE", "X-GOOGLE-CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL"} {
		for _, p := range c.All(name) {
			if link := strings.TrimSpace(p.Text()); webAddress(link) == 0 {
				return link
			}
		}
	}
	for _, name := range []string{"URL", "LOCATION", "DESCRIPTION", "SUMMARY"} {
		for _, p := range c.All(name) {
			for word := range linkWords(p.Text()) {
				if link := joinAddress(word); link != "" {
					return link
				}
			}
		}
	}
	return ""
}

// joinAddress returns the web address of a call within a word such as "(https://zoom.us/j/1)," or "zoom.us/j/1".
func joinAddress(word string) string {
	if !isCall(word) {
		return ""
	}
	word = strings.Trim(word, "()[]{}.,;:!?*_|")
	if start := webAddress(word); start >= 0 {
		return word[start:]
	}
	if strings.Contains(word, "/") && !strings.ContainsAny(word, "@:=") {
		return "https://" + word
	}
	return ""
}

// webAddress returns the place of the first web address in a text, -1 if there is none.
func webAddress(text string) int {
	end := strings.Index(text, "://")
	for _, scheme := range []string{"https", "http"} {
		if start := end - len(scheme); start >= 0 && strings.EqualFold(text[start:end], scheme) {
			return start
		}
	}
	return -1
}

// hideCalls removes links to calls from the text of an object's parts. If the object has a call, it also removes the
// lines with passwords: everyone who has the link could join.
func hideCalls(parts []*ical.Component) {
	if !slices.ContainsFunc(parts, joinable) {
		return
	}
	for _, c := range parts {
		for _, p := range slices.Collect(c.Properties()) {
			if !slices.Contains(written, p.Name()) {
				continue
			}
			text := p.Text()
			left := withoutCalls(text)
			switch {
			case left == text:
			case left == "" || p.Name() == "URL":
				c.RemoveProperty(p)
			default:
				p.SetText(left)
			}
		}
	}
}

// joinable reports whether a component has a call: in a property, or in a text.
func joinable(c *ical.Component) bool {
	for p := range c.Properties() {
		if p.Name() == "CONFERENCE" || hasCall(p.Text()) {
			return true
		}
	}
	return false
}

// hasCall reports whether a text gives access to a call.
func hasCall(text string) bool {
	for word := range linkWords(text) {
		if isCall(word) {
			return true
		}
	}
	return meetingIDs.in(strings.ToLower(text)) || dialsIn(text)
}

// withoutCalls returns a text without links to calls and without the lines that have passwords or numbers of
// meetings. If such a line ends with its label, the next line with text has the value.
func withoutCalls(text string) string {
	var kept []string
	label := false
	for line := range strings.SplitSeq(text, "\n") {
		line = withoutLinks(line)
		lower := strings.ToLower(line)
		switch said := strings.TrimSpace(line); {
		case label && said != "":
			label = false
		case meetingIDs.in(lower), passwords.in(lower), dialsIn(line):
			label = strings.HasSuffix(said, ":")
		default:
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// emptied removes the brackets around a removed link.
var emptied = strings.NewReplacer("<>", "", "< >", "", "()", "", "( )", "", "[]", "", "[ ]", "")

func withoutLinks(line string) string {
	var left strings.Builder
	end := 0
	for word, start := range linkWords(line) {
		if isCall(word) {
			left.WriteString(line[end:start])
			end = start + len(word)
		}
	}
	if end == 0 {
		return line
	}
	left.WriteString(line[end:])
	return strings.Trim(oneBlank(emptied.Replace(oneBlank(left.String()))), " ,;|-–")
}

// oneBlank replaces each run of white space by one blank.
func oneBlank(text string) string { return strings.Join(strings.Fields(text), " ") }
