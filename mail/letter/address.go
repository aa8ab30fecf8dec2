package letter

import (
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// addressMost is the maximum length of an address (RFC 5321 §4.5.3.1.3).
const addressMost = 254

// Address parses an attendee's address as clients write it. The result is safe in an envelope and in a header.
func Address(written string) (calendar.MailAddress, error) {
	text := schedule.AddressOf(written).Mail()
	if !plausible(text) {
		return "", fmt.Errorf("%.100q is no mail address", written)
	}
	return calendar.MailAddress(text), nil
}

// plausible accepts the addresses that mail servers accept, except quoted local parts, which may contain any character.
func plausible(address string) bool {
	local, domain, ok := strings.Cut(address, "@")
	if !ok || local == "" || domain == "" || len(address) > addressMost || strings.HasPrefix(address, "-") {
		return false
	}
	for _, r := range address {
		if r <= ' ' || r == 0x7f || visible(r) < 0 || strings.ContainsRune(`<>()[]\,;:"`, r) {
			return false
		}
	}
	return !strings.Contains(domain, "@") && !strings.Contains(domain, "..") && !strings.HasPrefix(domain, ".") &&
		!strings.HasSuffix(domain, ".")
}

// Domain returns the part of an address after the @.
func Domain(a calendar.MailAddress) string {
	_, domain, _ := strings.Cut(string(a), "@")
	return domain
}
