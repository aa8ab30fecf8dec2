package webpush

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Key is what a server signs its messages with (RFC 8292).
type Key struct {
	private *ecdsa.PrivateKey
	public  string
}

// NewKey derives the key of a secret: anyone who has the same secret has the same key.
func NewKey(secret []byte) (Key, error) {
	// One number in 2^32 is no private key; then the next one is taken.
	for n := range 4 {
		number, err := hkdf.Key(sha256.New, secret, nil, fmt.Sprintf("VAPID %d", n), 32)
		if err != nil {
			return Key{}, err
		}
		private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), number)
		if err != nil {
			continue
		}
		return keyOf(private)
	}
	return Key{}, errors.New("the secret gives no key")
}

func keyOf(private *ecdsa.PrivateKey) (Key, error) {
	point, err := private.PublicKey.Bytes()
	return Key{private, base64.RawURLEncoding.EncodeToString(point)}, err
}

// Public is the public key, as programs hand it to their push service (RFC 8292 §3.2).
func (k Key) Public() string { return k.public }

// claims are those of RFC 8292 §2.
type claims struct {
	Audience string `json:"aud"`
	Expires  int64  `json:"exp"`
	Subject  string `json:"sub,omitempty"`
}

// tokenTime is how long a token is good: at most a day (RFC 8292 §2), and clocks differ.
const tokenTime = 12 * time.Hour

// Authorization says to a push service whose the message is; subject is how its sender is reached: mailto: or https:.
func (k Key) Authorization(s Subscription, subject string, now time.Time) (string, error) {
	audience, err := s.origin()
	if err != nil {
		return "", err
	}
	said, err := json.Marshal(claims{audience, now.Add(tokenTime).Unix(), subject})
	if err != nil {
		return "", err
	}
	text := segment([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + segment(said)
	sum := sha256.Sum256([]byte(text))
	r, v, err := ecdsa.Sign(rand.Reader, k.private, sum[:])
	if err != nil {
		return "", err
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	v.FillBytes(signature[32:])
	return "vapid t=" + text + "." + segment(signature[:]) + ", k=" + k.public, nil
}

func segment(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
