// Package outside has the rules that all pages for people without an account share: texts that do no harm, secrets of
// links, networks for limits, and the calendars that may get their events.
package outside

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/netip"
	"strings"
	"time"
	"unicode"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/locale"
)

// tokenBytes is the size of a token.
const tokenBytes = 24

// NewToken returns a random token, for an address that cannot be guessed.
func NewToken() string {
	data := make([]byte, tokenBytes)
	_, _ = rand.Read(data) // it never fails
	return base64.RawURLEncoding.EncodeToString(data)
}

// Line makes a stranger's text one line without control characters, which could hide or reverse neighbouring text.
func Line(text string) string { return strings.Join(strings.Fields(Plain(text)), " ") }

// Plain replaces control characters, except line breaks.
func Plain(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n', !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r):
			return r
		case r == '\r':
			return -1
		}
		return ' '
	}, strings.ToValidUTF8(text, "")))
}

// The parts of an address that a network shares.
const networkBits4, networkBits6 = 24, 56

// Network returns a hash of the network of a visitor's address.
func Network(addr netip.Addr) string {
	bits := networkBits6
	if addr = addr.Unmap(); addr.Is4() {
		bits = networkBits4
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte("booking network " + network.String()))
	return hex.EncodeToString(sum[:16])
}

// When formats a day and time, with the time zone.
func When(l *locale.Language, start time.Time, in *time.Location, cycle string) string {
	start = start.In(in)
	return l.Text("mail.day-time", "day", l.Date(start), "time", l.Time(start, cycle)) + " (" + in.String() + ")"
}

// Takes reports whether a calendar can get events of strangers' choices: an own one for events that is not linked. An
// event in a linked calendar is written to its source before the decision here.
func Takes(cal calendar.Calendar) bool {
	return cal.Access == calendar.OwnerAccess && !cal.Origin.Mirrors() && cal.Kinds.Has(calendar.Event)
}

// Moment returns an instant on the clock of a zone, or in UTC if the clock shows that time twice.
func Moment(t time.Time, z *zone.Zone) ical.Time {
	local := t.In(z.Location())
	_, offset := local.Zone()
	again := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, local.Location())
	if !again.Equal(t) || z.Name() == "UTC" {
		return ical.Instant(t)
	}
	return ical.Zoned(ical.CivilFromSeconds(t.Unix()+int64(offset)), z.Name())
}
