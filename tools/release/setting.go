package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"aead.dev/minisign"
	"github.com/ProtonMail/go-crypto/openpgp"
)

// setting has what a release takes from the environment. Without any of it, the release is the same but for signatures.
type setting struct {
	// module is the path of the repository, such as github.com/someone/caldav-mcp-server (RELEASE_MODULE). `make
	// module` writes it into the source.
	module string
	// maintainer is in the packages (RELEASE_MAINTAINER).
	maintainer string
	// sums signs the checksums (MINISIGN_KEY, the text of a secret key, with MINISIGN_PASSWORD); nil without a key.
	sums *minisign.PrivateKey
	// repositories signs the repositories for apt and dnf (OPENPGP_KEY, an armored secret key); nil if there is none.
	repositories *openpgp.Entity
}

// settingOf reads the settings. RELEASE_TAG must be the tag of the version, so that no tag publishes another one.
func settingOf(env func(string) string, version string) (s setting, err error) {
	if tag := env("RELEASE_TAG"); tag != "" && tag != "v"+version {
		return s, fmt.Errorf("the tag is %s, but the version in %s is %s: tag v%s, or change the constant", tag,
			constant, version, version)
	}
	s.module = env("RELEASE_MODULE")
	s.maintainer = cmp.Or(env("RELEASE_MAINTAINER"), "The authors of "+name+" <noreply@localhost>")
	if text := env("MINISIGN_KEY"); text != "" {
		var key minisign.PrivateKey
		if minisign.IsEncrypted([]byte(text)) {
			key, err = minisign.DecryptKey(env("MINISIGN_PASSWORD"), []byte(text))
		} else {
			err = key.UnmarshalText([]byte(text))
		}
		if err != nil {
			return s, fmt.Errorf("MINISIGN_KEY: %w", err)
		}
		s.sums = &key
	}
	if text := env("OPENPGP_KEY"); text != "" {
		keys, err := openpgp.ReadArmoredKeyRing(bytes.NewReader([]byte(text)))
		if err != nil || len(keys) != 1 || keys[0].PrivateKey == nil || keys[0].PrivateKey.Encrypted {
			return s, fmt.Errorf("OPENPGP_KEY is not one armored secret key without a passphrase: %w", err)
		}
		s.repositories = keys[0]
	}
	return s, nil
}

// homepage is the URL of the repository, or "".
func (s setting) homepage() string {
	if strings.Contains(s.module, "/") {
		return "https://" + s.module
	}
	return ""
}
