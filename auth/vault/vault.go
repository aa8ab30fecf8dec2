// Package vault seals what opens accounts elsewhere, so that who has the database alone opens none of them.
//
// Each record is encrypted (AES-256-GCM) with a random key of its own, which is wrapped by a master key that lies beside
// the database and not in it. Both are bound to whose record it is: one that was moved to another user, or to another
// account, does not open.
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
	// form is the first byte of what is sealed. The key's id follows, then the wrapped key, then the text.
	form       = 1
	idBytes    = 8
	nonceBytes = 12
	tagBytes   = 16
	wrapBytes  = nonceBytes + keyBytes + tagBytes
)

// Errors of a vault.
var (
	// ErrNoKey says that the vault does not have the key with which something was sealed.
	ErrNoKey = errors.New("the master key that this was sealed with is not here")
	// ErrSealed says that something is not what was sealed, or not whose.
	ErrSealed = errors.New("this was not sealed here for this account")
)

// Keys finds the master keys, the present one first. It may make one where there is none.
type Keys func() ([]Key, error)

// Key is a master key.
type Key [keyBytes]byte

// ID names the key, and tells nothing of it.
func (k Key) ID() string { return hex.EncodeToString(k.derive("key id")[:idBytes]) }

func (k Key) derive(purpose string) []byte {
	derived, err := hkdf.Key(sha256.New, k[:], nil, purpose, keyBytes)
	if err != nil {
		panic(err) // of an impossible length alone
	}
	return derived
}

// NewKey makes one.
func NewKey() Key {
	var k Key
	_, _ = rand.Read(k[:]) // never fails, as its documentation has it
	return k
}

// String is the key as it stands in a file.
func (k Key) String() string { return base64.StdEncoding.EncodeToString(k[:]) }

// ParseKeys reads keys as String writes them, in lines or with commas between them, the present one first.
func ParseKeys(text string) ([]Key, error) {
	var keys []Key
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' }) {
		data, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(data) != keyBytes {
			return nil, fmt.Errorf("a master key is %d random bytes in base64, as openssl rand -base64 %d writes them", keyBytes, keyBytes)
		}
		keys = append(keys, Key(data))
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no master key in it")
	}
	return keys, nil
}

// Vault seals and opens.
type Vault struct {
	find Keys
	mu   sync.Mutex
	keys []Key
}

// New makes a Vault, which looks for its keys when it first needs them, and again for one that it does not have.
func New(find Keys) *Vault { return &Vault{find: find} }

// Owner is whose record something is.
type Owner struct{ User, Account string }

// bound is what ties a record to its owner. The lengths keep two owners apart whose names run together alike.
func (o Owner) bound(id string) []byte {
	return fmt.Appendf(nil, "linked account %s %d:%s %d:%s", id, len(o.User), o.User, len(o.Account), o.Account)
}

// Present is the id of the key with which things are sealed now.
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

// Seal encrypts a secret for an owner, and returns it with the id of the key.
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

// Open decrypts what was sealed for an owner.
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
