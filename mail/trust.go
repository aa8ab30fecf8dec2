package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/emersion/go-msgauth/authres"
	"github.com/emersion/go-msgauth/dkim"

	"caldav-mcp-server/mail/letter"
)

// Trust decides whether a mail is from the person whom its From field names.
type Trust struct {
	// Server is what our own mail server calls itself in Authentication-Results. When set, its word is what counts; when
	// empty, we look at the signatures (DKIM) ourselves.
	Server string
	// LookupTXT asks the DNS; nil is the machine's resolver.
	LookupTXT func(ctx context.Context, name string) ([]string, error)
}

const (
	// signaturesMost bounds the signatures that are looked at, each of which costs a question to the DNS.
	signaturesMost = 5
	lookupPatience = 10 * time.Second
)

// errNotNow tells that whether a mail can be trusted cannot be found out now.
var errNotNow = errors.New("the DNS does not answer")

// proven tells whether the domain of the author stands for the mail.
func (t Trust) proven(ctx context.Context, raw []byte, m *incoming) (bool, error) {
	domain := letter.Domain(m.from)
	if t.Server != "" {
		return t.vouched(m, domain), nil
	}
	return t.signed(ctx, raw, domain)
}

// vouched reads what our mail server found. It puts its field before all others, and must take away what others wrote in
// its name (RFC 8601 §5); all but the first are not looked at all the same.
func (t Trust) vouched(m *incoming, domain string) bool {
	field, ok := uncommented(m.header.Get("Authentication-Results"))
	if !ok {
		return false
	}
	server, results, err := authres.Parse(field)
	if err != nil || !strings.EqualFold(server, t.Server) {
		return false
	}
	for _, result := range results {
		switch r := result.(type) {
		case *authres.DMARCResult:
			if r.Value == authres.ResultPass && strings.EqualFold(r.From, domain) {
				return true
			}
		case *authres.DKIMResult:
			if r.Value == authres.ResultPass && aligned(r.Domain, domain) {
				return true
			}
		}
	}
	return false
}

// uncommented drops comments and texts in quotes from a field. Strangers write into both, such as in the local part of an
// envelope, and could write results there.
func uncommented(field string) (string, bool) {
	var out strings.Builder
	depth, quoted, escaped := 0, false, false
	for _, r := range field {
		switch {
		case escaped:
			escaped = false
		case (quoted || depth > 0) && r == '\\':
			escaped = true
		case quoted:
			quoted = r != '"'
		case depth == 0 && r == '"':
			quoted = true
			out.WriteString("quoted")
		case r == '(':
			depth++
			out.WriteByte(' ')
		case r == ')':
			if depth--; depth < 0 {
				return "", false
			}
		case depth == 0:
			out.WriteRune(r)
		}
	}
	return out.String(), depth == 0 && !quoted
}

// signed checks the signatures ourselves.
func (t Trust) signed(ctx context.Context, raw []byte, domain string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	lookup := t.LookupTXT
	if lookup == nil {
		lookup = net.DefaultResolver.LookupTXT
	}
	all, err := dkim.VerifyWithOptions(bytes.NewReader(crlfOnly(raw)), &dkim.VerifyOptions{
		LookupTXT: func(name string) ([]string, error) { return lookup(ctx, name) }, MaxVerifications: signaturesMost,
	})
	if err != nil && !errors.Is(err, dkim.ErrTooManySignatures) {
		return false, nil // signatures that make no sense prove nothing
	}
	var later error
	for _, v := range all {
		switch {
		case !aligned(v.Domain, domain):
		case v.Err == nil:
			return true, nil
		case dkim.IsTempFail(v.Err):
			later = fmt.Errorf("%w for %s", errNotNow, v.Domain)
		}
	}
	return false, later
}

// aligned tells whether a signer speaks for an author's domain: it is that domain, or one above it.
func aligned(signer, domain string) bool {
	signer, domain = strings.ToLower(strings.TrimSuffix(signer, ".")), strings.ToLower(domain)
	return strings.Contains(signer, ".") && (signer == domain || strings.HasSuffix(domain, "."+signer))
}

// crlfOnly ends lines as they were signed: a pipe may bring them as the machine has them.
func crlfOnly(raw []byte) []byte {
	if bytes.Contains(raw, []byte("\r\n")) {
		return raw
	}
	return bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))
}
