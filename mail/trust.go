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

// Trust verifies that a mail comes from the address in its From field.
type Trust struct {
	// Server is our own mail server's name in Authentication-Results. If set, its results decide; if empty, we verify
	// the DKIM signatures ourselves.
	Server string
	// LookupTXT queries the DNS; nil uses the system's resolver.
	LookupTXT func(ctx context.Context, name string) ([]string, error)
}

const (
	// signaturesMost limits the checked signatures: each costs a DNS query.
	signaturesMost = 5
	lookupPatience = 10 * time.Second
)

// errNotNow means that the check is not possible at present.
var errNotNow = errors.New("the DNS does not answer")

// proven reports whether the author's domain has authenticated the mail.
func (t Trust) proven(ctx context.Context, raw []byte, m *incoming) (bool, error) {
	domain := letter.Domain(m.from)
	if t.Server != "" {
		return t.vouched(m, domain), nil
	}
	return t.signed(ctx, raw, domain)
}

// vouched reads our mail server's results. It puts its field first and must remove forged ones (RFC 8601 §5); all but
// the first are ignored anyway.
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

// uncommented removes comments and quoted strings from a field. Strangers control their content, for example the local
// part of an envelope address, and could put forged results there.
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

// signed verifies the signatures.
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
		return false, nil // malformed signatures prove nothing
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

// aligned reports whether a signer's domain is the author's domain or a parent of it.
func aligned(signer, domain string) bool {
	signer, domain = strings.ToLower(strings.TrimSuffix(signer, ".")), strings.ToLower(domain)
	return strings.Contains(signer, ".") && (signer == domain || strings.HasSuffix(domain, "."+signer))
}

// crlfOnly restores the CRLF line endings of the signed mail: a pipe may deliver it with the system's.
func crlfOnly(raw []byte) []byte {
	if bytes.Contains(raw, []byte("\r\n")) {
		return raw
	}
	return bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))
}
