package google

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"caldav-mcp-server/linked/rest"
)

// asked requests a new conference. Its request id derives from the event's UID, so that a repeated request creates only
// one.
func asked(uid string) json.RawMessage {
	sum := sha256.Sum256([]byte(uid))
	data, err := rest.Text(map[string]any{"createRequest": map[string]any{
		"requestId":             hex.EncodeToString(sum[:16]),
		"conferenceSolutionKey": map[string]string{"type": "hangoutsMeet"},
	}})
	if err != nil {
		return nil
	}
	return data
}
