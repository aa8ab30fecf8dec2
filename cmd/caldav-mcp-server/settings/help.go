package settings

import (
	"fmt"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// Help is the help text for a setting.
func (s Setting) Help() string {
	const indent = 6
	flag := fmt.Sprintf(" (--%s %s)", s.Flag(), s.Placeholder)
	if s.Hidden {
		flag = ""
	}
	text := fmt.Sprintf("  %s%s\n", s.Env, flag) +
		console.Folded(strings.Repeat(" ", indent)+s.About+ShownDefault(s.Fallback), indent)
	if s.secret {
		text += console.Folded(fmt.Sprintf("%*s%s_FILE (--%s-file FILE) names a file that contains it", indent, "",
			s.Env, s.Flag()), indent)
	}
	return text
}

// ShownDefault is the default of a flag in its description; "" for an empty text and for false.
func ShownDefault(value string) string {
	if value == "" || value == "false" {
		return ""
	}
	return " (default " + value + ")"
}
