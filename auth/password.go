package auth

import (
	"crypto/rand"
	"strings"
	"unicode/utf8"
)

const (
	// minPassword is in characters: NIST SP 800-63B §5.1.1.2 asks for eight, and for no further rules.
	minPassword = 8
	// maxPassword is in bytes; it keeps clients from sending megabytes to hash.
	maxPassword = 1024
)

func validatePassword(password string) error {
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return invalid("the password is too short: it needs at least %d characters", minPassword)
	case len(password) > maxPassword:
		return invalid("the password is too long: it may have at most %d bytes", maxPassword)
	case !printable(password):
		// RFC 7617 §2: Basic cannot carry control characters, and we decode it as UTF-8.
		return invalid("the password has a line break, another control character or bytes that are not UTF-8; " +
			"clients could not send it")
	case looksLikeToken(password):
		// A login with it would be looked up as a token.
		return invalid("the password looks like an access token; use another one")
	}
	return nil
}

// NewPassword makes a password of 100 random bits, in groups that are easy to read out and type: lower-case letters and
// the digits 2 to 7.
func NewPassword() string {
	const groups, length = 4, 5
	return grouped(groups, length)
}

// grouped returns random letters, 5 bits each, in groups separated by dashes: at most 26 letters.
func grouped(groups, length int) string {
	text := strings.ToLower(rand.Text())
	words := make([]string, groups)
	for i := range words {
		words[i] = text[i*length : (i+1)*length]
	}
	return strings.Join(words, "-")
}
