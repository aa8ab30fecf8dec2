package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"strings"

	"caldav-mcp-server/calendar"
)

// Secret is the full text of a token or link. It is shown once and never stored.
type Secret string

// LogValue keeps a Secret out of the log.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

const (
	tokenPrefix   = "mcp_"
	idLength      = 16
	secretLength  = 32
	encodedLength = (idLength + secretLength) / 3 * 4
)

// newRaw makes the bytes of a token or link: an id and a secret. The id is random too, so a stranger without a valid id
// cannot even cause a check of the secret.
func newRaw() []byte {
	raw := make([]byte, idLength+secretLength)
	// Never fails: crypto/rand crashes the program if the system has no randomness.
	_, _ = rand.Read(raw)
	return raw
}

// SecretHash is the SHA-256 of a whole secret with its id. It can be cheap: 32 random bytes cannot be guessed. It
// covers the id, so it is useless for another secret.
type SecretHash string

// rawParts returns the public half in hexadecimal and the hash of the whole.
func rawParts(raw []byte) (id string, h SecretHash) {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(raw[:idLength]), SecretHash(hex.EncodeToString(sum[:]))
}

func encodeRaw(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// decodeRaw is the inverse of encodeRaw. Each value has exactly one text: no bits are left over.
func decodeRaw(encoded string) (raw []byte, ok bool) {
	if len(encoded) != encodedLength {
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	// The decoder skips line breaks, so check the length as well.
	return raw, err == nil && len(raw) == idLength+secretLength
}

// newSecret makes a token: its public half, its secret half and its text.
func newSecret() (id calendar.TokenID, half string, text Secret) {
	raw := newRaw()
	id, half = halves(raw)
	return id, half, Secret(tokenPrefix + encodeRaw(raw))
}

// parseSecret splits a token's text.
func parseSecret(text string) (id calendar.TokenID, half string, ok bool) {
	encoded, found := strings.CutPrefix(text, tokenPrefix)
	if !found {
		return "", "", false
	}
	raw, ok := decodeRaw(encoded)
	if !ok {
		return "", "", false
	}
	id, half = halves(raw)
	return id, half, true
}

// halves returns the id in hexadecimal, which no shell takes for a flag, and the secret half.
func halves(raw []byte) (calendar.TokenID, string) {
	return calendar.TokenID(hex.EncodeToString(raw[:idLength])), string(raw[idLength:])
}

func looksLikeToken(text string) bool {
	_, _, ok := parseSecret(text)
	return ok
}

// Form is a kind of generated secret, identified by its prefix.
type Form string

// AccessForm is the form of the access tokens that OAuth clients present at the MCP door.
const AccessForm Form = "mcpa_"

// SecretID is the public half of such a secret, in lower-case hexadecimal.
type SecretID string

// New generates a secret.
func (f Form) New() (SecretID, SecretHash, Secret) {
	raw := newRaw()
	id, hash := rawParts(raw)
	return SecretID(id), hash, Secret(f) + Secret(encodeRaw(raw))
}

// Parse splits a secret's text.
func (f Form) Parse(text string) (SecretID, SecretHash, bool) {
	encoded, found := strings.CutPrefix(text, string(f))
	if !found {
		return "", "", false
	}
	raw, ok := decodeRaw(encoded)
	if !ok {
		return "", "", false
	}
	id, hash := rawParts(raw)
	return SecretID(id), hash, true
}

// Is compares in constant time.
func (h SecretHash) Is(other SecretHash) bool {
	return subtle.ConstantTimeCompare([]byte(h), []byte(other)) == 1
}
