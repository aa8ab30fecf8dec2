package letter

import (
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// addressMost is how long an address may be (RFC 5321 §4.5.3.1.3).
const addressMost = 254

// Address understands how clients write a person's address. What it returns is fit for an envelope and a header.
func Address(written string) (calendar.MailAddress, error) {
	text := schedule.AddressOf(written).Mail()
	if !plausible(text) {
		return "", fmt.Errorf("%.100q is no mail address", written)
	}
	return calendar.MailAddress(text), nil
}

// plausible takes what mail servers take, but for local parts in quotes, in which anything could stand.
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
	return !strings.Contains(domain, "@") && !strings.Contains(domain, "..") && !strings.HasPrefix(domain, ".") && !strings.HasSuffix(domain, ".")
}

// Domain is the part of an address behind the @.
func Domain(a calendar.MailAddress) string {
	_, domain, _ := strings.Cut(string(a), "@")
	return domain
}
