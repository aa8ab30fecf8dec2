// Package skill has the skill that teaches assistants to work with the tools. Hosts read it from the server (MCP Skills
// extension); people copy the directory into assistants that read skills from files.
package skill

import (
	_ "embed" // SKILL.md
	"strings"

	"caldav-mcp-server/mcp/wire"
)

// Text is the skill.
//
//go:embed SKILL.md
var Text string

// Name is the name in the frontmatter. URI is the address of the resource with the text, which must contain the name.
const (
	Name = "calendars"
	URI  = "skill://" + Name + "/SKILL.md"
)

// Skill returns the entry that hosts list.
func Skill() wire.Skill { return wire.NewSkill(URI, frontmatter(), Text) }

// frontmatter returns the fields at the head of the text: one line each, without quotes.
func frontmatter() map[string]string {
	head, _, _ := strings.Cut(strings.TrimPrefix(Text, "---\n"), "\n---\n")
	fields := make(map[string]string)
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		fields[name] = value
	}
	return fields
}
