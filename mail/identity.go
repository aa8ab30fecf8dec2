package mail

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"caldav-mcp-server/calendar"
)

// Key is the secret by which the house knows its own: mails that come back, and links that it gave out. All processes on
// one store have the same.
type Key []byte

// mac is a code for some words, for one purpose. Nobody can make it without the key.
func (k Key) mac(purpose string, words ...string) string {
	h := hmac.New(sha256.New, k)
	for _, word := range append([]string{purpose}, words...) {
		// With its length, so that no two lists of words are one text.
		_, _ = h.Write([]byte{byte(len(word) >> 24), byte(len(word) >> 16), byte(len(word) >> 8), byte(len(word))})
		_, _ = h.Write([]byte(word))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18])
}

// tokenMost is longer than any link of ours.
const tokenMost = 4 << 10

// seal makes of a claim the end of a link, for one purpose.
func (k Key) seal(purpose string, claim any) (string, error) {
	text, err := json.Marshal(claim)
	if err != nil {
		return "", err
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	return body + "." + k.mac(purpose, body), nil
}

// unseal reads a claim that was sealed for a purpose; false where it was not.
func (k Key) unseal(purpose, token string, claim any) bool {
	body, mac, _ := strings.Cut(token, ".")
	if len(token) > tokenMost || !hmac.Equal([]byte(mac), []byte(k.mac(purpose, body))) {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString(body)
	return err == nil && json.Unmarshal(text, claim) == nil
}

// messageID is the Message-ID of a letter: the same, however often it is sent.
func (k Key) messageID(id calendar.LetterID, domain string) string {
	name := base64.RawURLEncoding.EncodeToString([]byte(id))
	return name + "." + k.mac("letter", name) + "@" + domain
}

// threadID is the message id to which all mails to a person about an event refer, so that programs show them together.
func (k Key) threadID(l calendar.Letter, domain string) string {
	return "event." + k.mac("thread", string(l.User), string(l.To), string(l.UID)) + "@" + domain
}

// ours tells which letter a Message-ID is of. One that we did not make is of none.
func (k Key) ours(messageID string) (calendar.LetterID, bool) {
	local, _, _ := strings.Cut(strings.Trim(strings.TrimSpace(messageID), "<>"), "@")
	name, mac, ok := strings.Cut(local, ".")
	if !ok || !hmac.Equal([]byte(mac), []byte(k.mac("letter", name))) {
		return "", false
	}
	id, err := base64.RawURLEncoding.DecodeString(name)
	return calendar.LetterID(id), err == nil
}
