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

// Key is the server's signing key (RFC 8292).
type Key struct {
	private *ecdsa.PrivateKey
	public  string
}

// NewKey derives the key from a secret: the same secret gives the same key.
func NewKey(secret []byte) (Key, error) {
	// One number in 2^32 is not a valid private key; then the next one is used.
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

// Public returns the public key, which clients pass to their push service (RFC 8292 §3.2).
func (k Key) Public() string { return k.public }

// claims are the JWT claims of RFC 8292 §2.
type claims struct {
	Audience string `json:"aud"`
	Expires  int64  `json:"exp"`
	Subject  string `json:"sub,omitempty"`
}

// tokenTime is the validity of a token: at most a day (RFC 8292 §2), minus a margin for clock differences.
const tokenTime = 12 * time.Hour

// Authorization returns the header that identifies the sender; subject is the sender's contact address, mailto: or
// https:.
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
