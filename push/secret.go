package push

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// secretPrefix marks a webhook's secret (Standard Webhooks).
	secretPrefix = "whsec_"
	secretBytes  = 32
	// Overlap is how long the previous secret signs together with the new one.
	Overlap = 24 * time.Hour
)

// WebhookSecret returns a webhook's secret for its owner. It is derived from the key and not stored.
func WebhookSecret(key []byte, w calendar.Webhook) (string, error) {
	secret, err := secretOf(key, w.ID, w.Number)
	return secretPrefix + base64.StdEncoding.EncodeToString(secret), err
}

func secretOf(key []byte, id calendar.WebhookID, number int64) ([]byte, error) {
	return hkdf.Key(sha256.New, key, nil, fmt.Sprintf("webhook %s %d", id, number), secretBytes)
}

// Signatures signs a message with the webhook's secret and, during the overlap, with the previous one.
func Signatures(key []byte, w calendar.Webhook, id calendar.DeliveryID, now time.Time, body []byte) (string, error) {
	all, err := signature(key, w.ID, w.Number, id, now, body)
	if err != nil || w.Number < 2 || !now.Before(w.Rotated.Add(Overlap)) {
		return all, err
	}
	before, err := signature(key, w.ID, w.Number-1, id, now, body)
	return all + " " + before, err
}

func signature(key []byte, w calendar.WebhookID, number int64, id calendar.DeliveryID, now time.Time,
	body []byte,
) (string, error) {
	secret, err := secretOf(key, w, number)
	if err != nil {
		return "", err
	}
	m := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprintf(m, "%s.%d.", id, now.Unix()) // never fails
	m.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil)), nil
}
