package mailbox

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
)

// cursor is where a listing goes on. It has what was asked, since another question has no such place, and how many were given.
type cursor struct {
	Of    string `json:"o"`
	Given int    `json:"n"`
	Token string `json:"t"`
}

// cursorBytes bound one that comes back.
const cursorBytes = 4096

func (c cursor) text() string {
	data, _ := json.Marshal(c) // strings and a number
	return base64.RawURLEncoding.EncodeToString(data)
}

func readCursor(text string, of string) (cursor, error) {
	at := cursor{Of: of}
	if text == "" {
		return at, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if len(text) > cursorBytes || err != nil || json.Unmarshal(data, &at) != nil || at.Token == "" || at.Given < 0 {
		return at, fault(InvalidArgument, "pageToken is none that was given: take nextPageToken of the page before as it is, or leave it out to begin")
	}
	if at.Of != of {
		return at, fault(InvalidArgument, "pageToken is of another query: give the query again as it was, or leave pageToken out")
	}
	return at, nil
}

// question names a query, for its cursors.
func question(kind, text string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return hex.EncodeToString(sum[:8])
}
