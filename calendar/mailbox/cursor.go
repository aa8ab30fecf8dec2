package mailbox

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
)

// cursor is a position in a listing. It contains a hash of the query, since it is valid only for that, and the
// number of results so far.
type cursor struct {
	Of    string `json:"o"`
	Given int    `json:"n"`
	Token string `json:"t"`
}

// cursorBytes limits the size of a client's cursor.
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
		return at, fault(InvalidArgument,
			"pageToken is invalid: copy nextPageToken from the previous page, or omit it to start from the beginning")
	}
	if at.Of != of {
		return at, fault(InvalidArgument,
			"pageToken belongs to another query: repeat the original query, or omit pageToken")
	}
	return at, nil
}

// question returns the hash of a query for its cursors.
func question(kind, text string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return hex.EncodeToString(sum[:8])
}
