package webpush

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"
)

// Message is a message to a subscriber.
type Message struct {
	// Text is the plaintext.
	Text []byte
	// TTL is how long the service keeps it for an unreachable device.
	TTL time.Duration
	// Urgency is the message's importance for waking the device (RFC 8030 §5.3).
	Urgency Urgency
	// Topic makes the message replace an undelivered one of the same topic (RFC 8030 §5.4): at most 32 base64url
	// characters.
	Topic string
}

// Urgency is a value of RFC 8030 §5.3.
type Urgency string

// Normal is for messages that a user expects while they use the device.
const Normal Urgency = "normal"

// High is for messages that lose their value within minutes.
const High Urgency = "high"

// Sender signs the messages.
type Sender struct {
	Key Key
	// Subject is the contact address of the server's operator.
	Subject string
}

// Request returns the request that sends the message to the push service.
func (from Sender) Request(ctx context.Context, to Subscription, m Message, now time.Time) (*http.Request, error) {
	body, err := to.Encrypt(m.Text)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	authorization, err := from.Key.Authorization(to, from.Subject, now)
	if err != nil {
		return nil, err
	}
	h := r.Header
	h.Set("Authorization", authorization)
	h.Set("Content-Encoding", "aes128gcm")
	// The encrypted body is not XML.
	h.Set("Content-Type", "application/octet-stream")
	h.Set("TTL", strconv.Itoa(int(m.TTL/time.Second)))
	if m.Urgency != "" {
		h.Set("Urgency", string(m.Urgency))
	}
	if m.Topic != "" {
		h.Set("Topic", m.Topic)
	}
	return r, nil
}
