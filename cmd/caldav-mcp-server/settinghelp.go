package main

import (
	"fmt"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// help is the help text for a setting.
func (s setting) help() string {
	const indent = 6
	flag := fmt.Sprintf(" (--%s %s)", s.flag(), s.placeholder)
	if s.hidden {
		flag = ""
	}
	text := fmt.Sprintf("  %s%s\n", s.env, flag) +
		console.Folded(strings.Repeat(" ", indent)+s.about+shownDefault(s.fallback), indent)
	if s.secret {
		text += console.Folded(fmt.Sprintf("%*s%s_FILE (--%s-file FILE) names a file that contains it", indent, "", s.env, s.flag()), indent)
	}
	return text
}

func shownDefault(value string) string {
	if value == "" || value == "false" {
		return ""
	}
	return " (default " + value + ")"
}
