package describe

import (
	"regexp"
	"strings"
)

var (
	// product is a product in a User-Agent (RFC 9110 §10.1.5). A name without a number after the slash is the name
	// of a token.
	product = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+ ._-]*)/([0-9][^ ;()]*)`)
	// lastProduct matches the program's own name in browser-based programs.
	lastProduct = regexp.MustCompile(`([A-Za-z][A-Za-z0-9._-]*)/([0-9][^ ;()]*)\s*$`)
)

// appleSystems are the first products in Apple's User-Agents. They name the system, not the app.
var appleSystems = map[string]string{
	"iOS": "iOS", "iPadOS": "iPadOS", "macOS": "macOS", "Mac OS X": "macOS", "Mac+OS+X": "macOS", "watchOS": "watchOS",
}

// Program returns a readable program name for the agent in a journal entry. The agent is a User-Agent, which is
// reduced to name and version, or the name of an access token, which is returned unchanged.
func Program(agent string) string {
	m := product.FindStringSubmatch(agent)
	if m == nil {
		return agent
	}
	if system, apple := appleSystems[m[1]]; apple {
		return appleApp(agent) + " on " + system + " " + m[2]
	}
	if last := lastProduct.FindStringSubmatch(agent); m[1] == "Mozilla" && last != nil {
		m = last
	}
	return m[1] + " " + m[2]
}

func appleApp(agent string) string {
	if strings.Contains(agent, "remindd/") {
		return "Reminders"
	}
	return "Calendar"
}
