package webpush

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"
)

// Message is one to a program.
type Message struct {
	// Text is what the program reads.
	Text []byte
	// TTL is how long the service keeps it for a device that is away.
	TTL time.Duration
	// Urgency tells for what a device is woken (RFC 8030 §5.3).
	Urgency Urgency
	// Topic is what the message takes the place of among those that wait (RFC 8030 §5.4): at most 32 letters of base64url.
	Topic string
}

// Urgency is one of the words of RFC 8030 §5.3.
type Urgency string

// Normal is for what a person waits for while they use the device.
const Normal Urgency = "normal"

// Sender is who sends.
type Sender struct {
	Key Key
	// Subject is how the server's operator is reached.
	Subject string
}

// Request makes what carries the message to the push service.
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
	// It is no XML before it is opened.
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
