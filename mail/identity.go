package mail

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"caldav-mcp-server/calendar"
)

// Key authenticates our own values: the Message-IDs of our mails, and the links in them. All processes on one store
// share it.
type Key []byte

// mac returns a message authentication code for a list of words and a purpose.
func (k Key) mac(purpose string, words ...string) string {
	h := hmac.New(sha256.New, k)
	for _, word := range append([]string{purpose}, words...) {
		// The length prefix keeps different lists from producing the same bytes.
		_, _ = h.Write([]byte{byte(len(word) >> 24), byte(len(word) >> 16), byte(len(word) >> 8), byte(len(word))})
		_, _ = h.Write([]byte(word))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18])
}

// tokenMost is longer than any of our links.
const tokenMost = 4 << 10

// seal returns a signed token with a claim, for one purpose.
func (k Key) seal(purpose string, claim any) (string, error) {
	text, err := json.Marshal(claim)
	if err != nil {
		return "", err
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	return body + "." + k.mac(purpose, body), nil
}

// unseal reads the claim of a token that was sealed for a purpose; false if the token is invalid.
func (k Key) unseal(purpose, token string, claim any) bool {
	body, mac, _ := strings.Cut(token, ".")
	if len(token) > tokenMost || !hmac.Equal([]byte(mac), []byte(k.mac(purpose, body))) {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString(body)
	return err == nil && json.Unmarshal(text, claim) == nil
}

// messageID returns the Message-ID of a letter. It is the same for every retry.
func (k Key) messageID(id calendar.LetterID, domain string) string {
	name := base64.RawURLEncoding.EncodeToString([]byte(id))
	return name + "." + k.mac("letter", name) + "@" + domain
}

// threadID returns the Message-ID that all mails to a person about an event refer to, so that mail programs group them.
func (k Key) threadID(l calendar.Letter, domain string) string {
	return "event." + k.mac("thread", string(l.User), string(l.To), string(l.UID)) + "@" + domain
}

// ours returns the letter of a Message-ID, if it is one of ours.
func (k Key) ours(messageID string) (calendar.LetterID, bool) {
	local, _, _ := strings.Cut(strings.Trim(strings.TrimSpace(messageID), "<>"), "@")
	name, mac, ok := strings.Cut(local, ".")
	if !ok || !hmac.Equal([]byte(mac), []byte(k.mac("letter", name))) {
		return "", false
	}
	id, err := base64.RawURLEncoding.DecodeString(name)
	return calendar.LetterID(id), err == nil
}
