package auth

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"strings"

	"caldav-mcp-server/calendar"
)

// Secret is a token's whole text, which is shown once and never stored.
type Secret string

// LogValue keeps a Secret out of the log.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

const (
	tokenPrefix   = "mcp_"
	idLength      = 16
	secretLength  = 32
	encodedLength = (idLength + secretLength) / 3 * 4
)

// newSecret makes a token: its public half, its secret half and its text. The id is random as
// well, so who does not have a token cannot even make the server look for one.
func newSecret() (id calendar.TokenID, half string, text Secret) {
	var raw [idLength + secretLength]byte
	// Never fails: crypto/rand ends the program where the system has no randomness.
	_, _ = rand.Read(raw[:])
	id, half = halves(raw[:])
	return id, half, Secret(tokenPrefix + base64.RawURLEncoding.EncodeToString(raw[:]))
}

// parseSecret takes a token's text apart. There is one text for each token: no bits are left over.
func parseSecret(text string) (id calendar.TokenID, half string, ok bool) {
	encoded, found := strings.CutPrefix(text, tokenPrefix)
	if !found || len(encoded) != encodedLength {
		return "", "", false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	// The decoder skips line breaks, so the length says more than the error.
	if err != nil || len(raw) != idLength+secretLength {
		return "", "", false
	}
	id, half = halves(raw)
	return id, half, true
}

// halves returns the id in hexadecimal, which no shell takes for a flag.
func halves(raw []byte) (calendar.TokenID, string) {
	return calendar.TokenID(hex.EncodeToString(raw[:idLength])), string(raw[idLength:])
}

func looksLikeToken(text string) bool {
	_, _, ok := parseSecret(text)
	return ok
}
