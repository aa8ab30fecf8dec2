// Package vault encrypts the credentials of linked accounts, so that the database alone does not open them.
//
// Each record is encrypted (AES-256-GCM) with its own random key. A master key, stored outside the database, wraps that
// key. Both are bound to the record's owner: a record moved to another user or account does not decrypt.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
)

const (
	keyBytes = 32
	// form is the first byte of a sealed record. The key's id follows, then the wrapped key, then the ciphertext.
	form       = 1
	idBytes    = 8
	nonceBytes = 12
	tagBytes   = 16
	wrapBytes  = nonceBytes + keyBytes + tagBytes
)

// Errors of a vault.
var (
	// ErrNoKey means that the vault lacks the master key of a record.
	ErrNoKey = errors.New("the master key that this was sealed with is not here")
	// ErrSealed means that a record is damaged or belongs to another owner.
	ErrSealed = errors.New("this was not sealed here for this account")
)

// Keys returns the master keys, the current one first. It may create one if there is none.
type Keys func() ([]Key, error)

// Key is a master key.
type Key [keyBytes]byte

// ID identifies the key and reveals nothing about it.
func (k Key) ID() string { return hex.EncodeToString(k.derive("key id")[:idBytes]) }

func (k Key) derive(purpose string) []byte {
	derived, err := hkdf.Key(sha256.New, k[:], nil, purpose, keyBytes)
	if err != nil {
		panic(err) // only for an impossible length
	}
	return derived
}

// NewKey generates a master key.
func NewKey() Key {
	var k Key
	_, _ = rand.Read(k[:]) // never fails, as its documentation says
	return k
}

// String returns the key in the form used in files.
func (k Key) String() string { return base64.StdEncoding.EncodeToString(k[:]) }

// ParseKeys parses keys as String writes them, separated by line breaks, blanks or commas, the current one first.
func ParseKeys(text string) ([]Key, error) {
	var keys []Key
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t'
	}) {
		data, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(data) != keyBytes {
			return nil, fmt.Errorf("a master key is %d random bytes in base64, as openssl rand -base64 %d writes them",
				keyBytes, keyBytes)
		}
		keys = append(keys, Key(data))
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no master key in it")
	}
	return keys, nil
}

// Vault encrypts and decrypts records.
type Vault struct {
	find Keys
	mu   sync.Mutex
	keys []Key
}

// New makes a Vault. It loads its keys on first use, and reloads them when a record needs an unknown one.
func New(find Keys) *Vault { return &Vault{find: find} }

// Owner is the owner of a record.
type Owner struct{ User, Account string }

// bound returns the additional data that binds a record to its owner. The lengths keep owners apart whose concatenated
// names are equal.
func (o Owner) bound(id string) []byte {
	return fmt.Appendf(nil, "linked account %s %d:%s %d:%s", id, len(o.User), o.User, len(o.Account), o.Account)
}

// Present returns the id of the current master key.
func (v *Vault) Present() (string, error) {
	keys, err := v.all(true)
	if err != nil {
		return "", err
	}
	return keys[0].ID(), nil
}

func (v *Vault) all(again bool) ([]Key, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.keys != nil && !again {
		return v.keys, nil
	}
	keys, err := v.find()
	if err != nil {
		return nil, fmt.Errorf("the master key: %w", err)
	}
	v.keys = keys
	return keys, nil
}

func (v *Vault) key(id string) (Key, error) {
	for _, again := range [...]bool{false, true} {
		keys, err := v.all(again)
		if err != nil {
			return Key{}, err
		}
		for _, k := range keys {
			if k.ID() == id {
				return k, nil
			}
		}
	}
	return Key{}, fmt.Errorf("%w (key %s)", ErrNoKey, id)
}

// Seal encrypts a secret for an owner and returns it with the id of the key.
func (v *Vault) Seal(secret []byte, o Owner) (sealed []byte, id string, err error) {
	keys, err := v.all(true)
	if err != nil {
		return nil, "", err
	}
	id = keys[0].ID()
	name, _ := hex.DecodeString(id)
	sealed = append([]byte{form}, name...)
	own := NewKey()
	if sealed, err = lock(keys[0].derive("wrap"), sealed, own[:], o.bound(id)); err != nil {
		return nil, "", err
	}
	sealed, err = lock(own[:], sealed, secret, o.bound(id))
	return sealed, id, err
}

// Open decrypts a record of an owner.
func (v *Vault) Open(sealed []byte, o Owner) ([]byte, error) {
	if len(sealed) < 1+idBytes+wrapBytes || sealed[0] != form {
		return nil, ErrSealed
	}
	id := hex.EncodeToString(sealed[1 : 1+idBytes])
	master, err := v.key(id)
	if err != nil {
		return nil, err
	}
	rest := sealed[1+idBytes:]
	own, err := unlock(master.derive("wrap"), rest[:wrapBytes], o.bound(id))
	if err != nil {
		return nil, err
	}
	return unlock(own, rest[wrapBytes:], o.bound(id))
}

func lock(key, to, text, bound []byte) ([]byte, error) {
	gcm, err := gcmOf(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, nonceBytes)
	_, _ = rand.Read(nonce)
	return gcm.Seal(append(to, nonce...), nonce, text, bound), nil
}

func unlock(key, sealed, bound []byte) ([]byte, error) {
	if len(sealed) < nonceBytes+tagBytes {
		return nil, ErrSealed
	}
	gcm, err := gcmOf(key)
	if err != nil {
		return nil, err
	}
	text, err := gcm.Open(nil, sealed[:nonceBytes], sealed[nonceBytes:], bound)
	if err != nil {
		return nil, ErrSealed
	}
	return text, nil
}

func gcmOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
