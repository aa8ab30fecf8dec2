package webpush

import (
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Subscription is a subscriber's address and keys (RFC 8291 §2).
type Subscription struct {
	// Endpoint is the push resource (RFC 8030 §2).
	Endpoint string
	// Key is the subscriber's public key, an uncompressed point of P-256; Auth is the authentication secret.
	Key, Auth []byte
}

const (
	// keyBytes is the size of an uncompressed point (X9.62), authBytes the size of the secret (RFC 8291 §3.2).
	keyBytes, authBytes = 65, 16
	// maxEndpoint limits an endpoint: the longest known ones have about 200 bytes.
	maxEndpoint = 1024
)

// Parse parses a subscription; key and secret are in base64url.
func Parse(endpoint, key, auth string) (Subscription, error) {
	s := Subscription{Endpoint: strings.TrimSpace(endpoint)}
	u, err := url.Parse(s.Endpoint)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "":
		return s, errors.New("the push resource is not the https address of a push service")
	case len(s.Endpoint) > maxEndpoint:
		return s, fmt.Errorf("the push resource is longer than %d bytes", maxEndpoint)
	}
	if s.Key, err = decode(key); err == nil {
		_, err = ecdh.P256().NewPublicKey(s.Key)
	}
	if err != nil || len(s.Key) != keyBytes {
		return s, errors.New("the public key is not an uncompressed point of P-256 in base64url")
	}
	if s.Auth, err = decode(auth); err != nil || len(s.Auth) != authBytes {
		return s, fmt.Errorf("the auth secret is not %d bytes in base64url", authBytes)
	}
	return s, nil
}

// decode decodes base64url; some clients add padding.
func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(text), "="))
}

// origin returns the push service's origin (RFC 6454 §6.1).
func (s Subscription) origin() (string, error) {
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		return "", errors.New("the push resource is no address")
	}
	return u.Scheme + "://" + u.Host, nil
}
