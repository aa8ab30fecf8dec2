package calendar

import (
	"regexp"
	"strings"
)

var (
	// product is a part of a User-Agent (RFC 9110 §10.1.5). What has no number behind the slash is the name of a token.
	product = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+ ._-]*)/([0-9][^ ;()]*)`)
	// lastProduct is where programs that are built on a browser's engine say their own name.
	lastProduct = regexp.MustCompile(`([A-Za-z][A-Za-z0-9._-]*)/([0-9][^ ;()]*)\s*$`)
)

// appleSystems are how Apple's agents begin: they name the system and not the app.
var appleSystems = map[string]string{"iOS": "iOS", "iPadOS": "iPadOS", "macOS": "macOS", "Mac OS X": "macOS", "Mac+OS+X": "macOS", "watchOS": "watchOS"}

// ProgramOf names a program as people know it, by what a line of the journal says it was: a User-Agent, of which the name and
// the version are of use, or the name of an access token, which stays as it is.
func ProgramOf(agent string) string {
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
