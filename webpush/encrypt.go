package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

const (
	saltBytes = 16
	// recordBytes is the record size in the header: a message is one record (RFC 8291 §4).
	recordBytes = 4096
	// headerBytes is the size of the header (RFC 8188 §2.1): salt, record size and our public key.
	headerBytes = saltBytes + 4 + 1 + keyBytes
	// lastRecord is the delimiter of the last record (RFC 8188 §2).
	lastRecord = 2
	tagBytes   = 16
	// MaxText limits a text: services need not accept bodies over 4096 bytes (RFC 8030 §7.2).
	MaxText = recordBytes - headerBytes - tagBytes - 1
)

// Encrypt encrypts a text for the subscriber, with a new key and a new salt.
func (s Subscription) Encrypt(text []byte) ([]byte, error) {
	once, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails, as its documentation says
	return s.encrypt(text, once, salt)
}

func (s Subscription) encrypt(text []byte, once *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("a push message has at most %d bytes, not %d", MaxText, len(text))
	}
	theirs, err := ecdh.P256().NewPublicKey(s.Key)
	if err != nil {
		return nil, fmt.Errorf("the public key: %w", err)
	}
	shared, err := once.ECDH(theirs)
	if err != nil {
		return nil, fmt.Errorf("the public key: %w", err)
	}
	ours := once.PublicKey().Bytes()
	sealer, nonce, err := record(shared, s.Auth, s.Key, ours, salt)
	if err != nil {
		return nil, err
	}
	body := slices.Grow(slices.Clone(salt), headerBytes-saltBytes+len(text)+1+tagBytes)
	body = binary.BigEndian.AppendUint32(body, recordBytes)
	body = append(append(body, keyBytes), ours...)
	return sealer.Seal(body, nonce, append(slices.Clone(text), lastRecord), nil), nil
}

// record derives the key and the nonce of the record (RFC 8291 §3.4).
func record(shared, auth, theirs, ours, salt []byte) (aead cipher.AEAD, nonce []byte, err error) {
	secret, err := hkdf.Key(sha256.New, shared, auth, "WebPush: info\x00"+string(theirs)+string(ours), sha256.Size)
	if err != nil {
		return nil, nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, nil, err
	}
	nonce, err = hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	aead, err = cipher.NewGCM(block)
	return aead, nonce, err
}
