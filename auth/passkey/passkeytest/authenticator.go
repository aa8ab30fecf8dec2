// Package passkeytest is an authenticator for tests. It creates passkeys and signs with them like a phone whose owner
// always consents. It follows WebAuthn Level 3 and shares no code with the verifier.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// Authenticator holds passkeys for one browser.
type Authenticator struct {
	// Origin is the page's origin as the browser reports it; Host is the relying party's id.
	Origin, Host string
	// Unverified makes it sign without verifying its owner by fingerprint or PIN.
	Unverified bool
	// Counter increases with each signature; 0 stays 0.
	Counter uint32
	keys    []*key
}

type key struct {
	id, handle []byte
	private    *ecdsa.PrivateKey
}

var b64 = base64.RawURLEncoding

// Flags of authenticator data (§6.1): user present, user verified, and attested credential data included.
const present, verified, attested = 0x01, 0x04, 0x40

// Make answers navigator.credentials.create.
func (a *Authenticator) Make(options string) (string, error) {
	var asked struct {
		Challenge string
		User      struct{ ID string }
	}
	if err := json.Unmarshal([]byte(options), &asked); err != nil {
		return "", err
	}
	handle, err := b64.DecodeString(asked.User.ID)
	if err != nil {
		return "", err
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	id := make([]byte, 32)
	_, _ = rand.Read(id)
	a.keys = append(a.keys, &key{id, handle, private})
	public, err := private.PublicKey.ECDH()
	if err != nil {
		return "", err
	}
	data := a.data(attested)
	data = append(data, make([]byte, 16)...) // no AAGUID
	data = binary.BigEndian.AppendUint16(data, uint16(len(id)))
	data = append(data, id...)
	data = append(data, cose(public.Bytes())...)
	// {"fmt": "none", "attStmt": {}, "authData": …} in CBOR
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"),
		binary.BigEndian.AppendUint16(nil, uint16(len(data)))...)
	object = append(object, data...)
	return a.answer(id, map[string]string{
		"clientDataJSON":    b64.EncodeToString(a.client("webauthn.create", asked.Challenge)),
		"attestationObject": b64.EncodeToString(object),
	})
}

// cose returns a P-256 key for ES256 (RFC 9053 §2.1), from its uncompressed form.
func cose(point []byte) []byte {
	out := []byte("\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20")
	out = append(out, point[1:33]...)
	out = append(out, "\x22\x58\x20"...)
	return append(out, point[33:]...)
}

// Use answers navigator.credentials.get with the latest passkey.
func (a *Authenticator) Use(options string) (string, error) {
	var asked struct{ Challenge string }
	if err := json.Unmarshal([]byte(options), &asked); err != nil {
		return "", err
	}
	if len(a.keys) == 0 {
		return "", fmt.Errorf("there is no passkey")
	}
	if a.Counter > 0 {
		a.Counter++
	}
	k := a.keys[len(a.keys)-1]
	data, client := a.data(0), a.client("webauthn.get", asked.Challenge)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, sum[:])
	if err != nil {
		return "", err
	}
	return a.answer(k.id, map[string]string{
		"clientDataJSON": b64.EncodeToString(client), "authenticatorData": b64.EncodeToString(data),
		"signature": b64.EncodeToString(signature), "userHandle": b64.EncodeToString(k.handle),
	})
}

func (a *Authenticator) data(flags byte) []byte {
	host := sha256.Sum256([]byte(a.Host))
	flags |= present
	if !a.Unverified {
		flags |= verified
	}
	return binary.BigEndian.AppendUint32(append(host[:], flags), a.Counter)
}

func (a *Authenticator) client(what, challenge string) []byte {
	text, _ := json.Marshal(map[string]any{
		"type": what, "challenge": challenge, "origin": a.Origin, "crossOrigin": false,
	})
	return text
}

func (a *Authenticator) answer(id []byte, response map[string]string) (string, error) {
	text, err := json.Marshal(map[string]any{
		"id": b64.EncodeToString(id), "rawId": b64.EncodeToString(id), "type": "public-key", "response": response,
		"clientExtensionResults": struct{}{},
	})
	return string(text), err
}
