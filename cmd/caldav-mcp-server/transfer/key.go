package transfer

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"filippo.io/age"

	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// workFactor is the cost of a passphrase, 2^16: opening a file takes 64 MB of memory.
const workFactor = 16

// shortestPassphrase is the fewest characters of a passphrase: a file can be guessed at without a limit.
const shortestPassphrase = 12

// lock has the flags that encrypt a backup.
type lock struct {
	to         []string
	passphrase string
}

func (l *lock) declare(f *flag.FlagSet) {
	f.Func("recipient", "encrypt for this `KEY` of age (age1…), or the keys in a file; may be repeated",
		func(value string) error {
			l.to = append(l.to, value)
			return nil
		})
	f.StringVar(&l.passphrase, "passphrase-file", "", "encrypt with the passphrase in this `FILE`")
}

// recipients returns the keys to encrypt for; none if the backup is not to be encrypted.
func (l *lock) recipients() (all []age.Recipient, err error) {
	if len(l.to) > 0 && l.passphrase != "" {
		return nil, errors.New("--recipient and --passphrase-file exclude each other")
	}
	for _, value := range l.to {
		from, keys := "--recipient", value
		if !strings.HasPrefix(value, "age1") {
			if from, keys, err = settings.ReadSecret(from, value); err != nil {
				return nil, err
			}
		}
		found, err := age.ParseRecipients(strings.NewReader(keys))
		if err != nil {
			return nil, fmt.Errorf("%s: %w: a key begins with age1, and age-keygen makes one", from, err)
		}
		all = append(all, found...)
	}
	if l.passphrase == "" {
		return all, nil
	}
	from, text, err := settings.ReadSecret("--passphrase-file", l.passphrase)
	if err != nil {
		return nil, err
	}
	if len(text) < shortestPassphrase {
		return nil, fmt.Errorf("%s: the passphrase has fewer than %d characters", from, shortestPassphrase)
	}
	one, err := age.NewScryptRecipient(text)
	if err != nil {
		return nil, err
	}
	one.SetWorkFactor(workFactor)
	return []age.Recipient{one}, nil
}

// unlock has the flags that open an encrypted backup.
type unlock struct{ identity, passphrase string }

func (u *unlock) declare(f *flag.FlagSet) {
	f.StringVar(&u.identity, "identity", "", "`FILE` with the secret key of age that opens an encrypted FILE")
	f.StringVar(&u.passphrase, "passphrase-file", "", "`FILE` with the passphrase that opens it")
}

// keys returns the keys that were given.
func (u *unlock) keys() (all []age.Identity, err error) {
	if u.identity != "" {
		f, err := os.Open(u.identity)
		if err != nil {
			return nil, unread(u.identity, err)
		}
		defer func() { _ = f.Close() }() // it was only read
		if all, err = age.ParseIdentities(f); err != nil {
			return nil, fmt.Errorf("--identity names %s: %w: a secret key begins with AGE-SECRET-KEY-", u.identity, err)
		}
	}
	if u.passphrase != "" {
		_, text, err := settings.ReadSecret("--passphrase-file", u.passphrase)
		if err != nil {
			return nil, err
		}
		one, err := age.NewScryptIdentity(text)
		if err != nil {
			return nil, err
		}
		one.SetMaxWorkFactor(workFactor)
		all = append(all, one)
	}
	return all, nil
}
