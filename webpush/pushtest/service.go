// Package pushtest is a push service with subscribers, for tests. It accepts messages (RFC 8030), verifies their sender
// (RFC 8292) and decrypts them (RFC 8291). It shares no code with package webpush.
package pushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Program is a subscriber on a device, with the keys of its subscription.
type Program struct {
	// Path is the path of its push resource.
	Path    string
	private *ecdh.PrivateKey
	auth    []byte
}

// Message is a received, decrypted message.
type Message struct {
	Path, Text, Topic, TTL, Urgency string
	// Key is the signer's public key, Subject their contact address.
	Key, Subject string
}

// Service is a push service.
type Service struct {
	*httptest.Server
	// Answer chooses the status for a valid message on a path; nil means 201.
	Answer func(path string) int
	// Now returns the current time.
	Now func() time.Time

	mu       sync.Mutex
	programs map[string]*Program
	got      []Message
	// arrived signals each new message.
	arrived chan struct{}
	wrong   []error
}

// NewService starts a service; it stops with the test.
func NewService(t testing.TB, now func() time.Time) *Service {
	t.Helper()
	s := &Service{Now: now, programs: map[string]*Program{}, arrived: make(chan struct{}, 1)}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Server.Close)
	return s
}

// Roots returns a pool that trusts the service's certificate.
func (s *Service) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

// Subscribe makes a subscriber on a path.
func (s *Service) Subscribe(path string) *Program {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	p := &Program{Path: path, private: private, auth: make([]byte, 16)}
	_, _ = rand.Read(p.auth)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.programs[path] = p
	return p
}

// Endpoint returns the subscriber's push resource, for a server.
func (s *Service) Endpoint(p *Program) string { return s.URL + p.Path }

// PublicKey returns the subscriber's public key.
func (p *Program) PublicKey() string {
	return base64.RawURLEncoding.EncodeToString(p.private.PublicKey().Bytes())
}

// Auth returns the subscriber's authentication secret.
func (p *Program) Auth() string { return base64.RawURLEncoding.EncodeToString(p.auth) }

// Got returns the messages since the last call.
func (s *Service) Got() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

// Wrong returns the errors of invalid messages.
func (s *Service) Wrong() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.wrong...)
}

// Arrived receives after a message has arrived.
func (s *Service) Arrived() <-chan struct{} { return s.arrived }

// ServeHTTP receives a message.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, err := s.take(r)
	status := http.StatusCreated
	s.mu.Lock()
	if err != nil {
		s.wrong = append(s.wrong, err)
		status = http.StatusBadRequest
	} else {
		if s.Answer != nil {
			status = s.Answer(r.URL.Path)
		}
		s.got = append(s.got, m)
	}
	s.mu.Unlock()
	w.WriteHeader(status)
	select {
	case s.arrived <- struct{}{}:
	default:
	}
}

func (s *Service) take(r *http.Request) (Message, error) {
	m := Message{
		Path: r.URL.Path, Topic: r.Header.Get("Topic"), TTL: r.Header.Get("TTL"), Urgency: r.Header.Get("Urgency"),
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	s.mu.Lock()
	p := s.programs[r.URL.Path]
	s.mu.Unlock()
	switch {
	case err != nil:
		return m, err
	case r.Method != http.MethodPost || p == nil:
		return m, fmt.Errorf("%s %s is no message to a program", r.Method, r.URL.Path)
	case r.Header.Get("Content-Encoding") != "aes128gcm" || m.TTL == "" || len(body) > 4096:
		return m, fmt.Errorf("encoding %q, TTL %q, %d bytes", r.Header.Get("Content-Encoding"), m.TTL, len(body))
	}
	if m.Key, m.Subject, err = s.signer(r.Header.Get("Authorization")); err != nil {
		return m, err
	}
	m.Text, err = p.open(body)
	return m, err
}

// signer verifies the signature (RFC 8292 §2 and §3).
func (s *Service) signer(header string) (key, subject string, err error) {
	fields := map[string]string{}
	params, vapid := strings.CutPrefix(header, "vapid ")
	for part := range strings.SplitSeq(params, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	parts := strings.Split(fields["t"], ".")
	if !vapid || len(parts) != 3 {
		return "", "", fmt.Errorf("no VAPID: %q", header)
	}
	if err := Verify(fields["t"], fields["k"]); err != nil {
		return "", "", err
	}
	var head struct{ Alg string }
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	for i, into := range []any{&head, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return "", "", err
		}
		if err := json.Unmarshal(text, into); err != nil {
			return "", "", err
		}
	}
	now := s.Now().Unix()
	if head.Alg != "ES256" || claims.Aud != s.URL || claims.Exp <= now || claims.Exp > now+24*60*60 {
		return "", "", fmt.Errorf("signed by %q for %q until %d, now %d", head.Alg, claims.Aud, claims.Exp, now)
	}
	return fields["k"], claims.Sub, nil
}

// Verify checks a token's signature with a key.
func Verify(token, key string) error {
	point, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	at := strings.LastIndexByte(token, '.')
	signature, err := base64.RawURLEncoding.DecodeString(token[at+1:])
	if err != nil || len(signature) != 64 {
		return fmt.Errorf("a signature of %d bytes: %w", len(signature), err)
	}
	sum := sha256.Sum256([]byte(token[:at]))
	if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the signature is wrong")
	}
	return nil
}

// open decrypts a message by the steps of RFC 8291 §3.3 and RFC 8188 §2, with HKDF written out.
func (p *Program) open(body []byte) (string, error) {
	if len(body) < 21+65 || body[20] != 65 {
		return "", errors.New("the header is none of a push message")
	}
	salt, theirs := body[:16], body[21:86]
	if size := binary.BigEndian.Uint32(body[16:20]); uint64(len(body)-86) > uint64(size) {
		return "", fmt.Errorf("a record of %d bytes, where the header says %d", len(body)-86, size)
	}
	public, err := ecdh.P256().NewPublicKey(theirs)
	if err != nil {
		return "", err
	}
	shared, err := p.private.ECDH(public)
	if err != nil {
		return "", err
	}
	info := "WebPush: info\x00" + string(p.private.PublicKey().Bytes()) + string(theirs)
	secret := mac(mac(p.auth, shared), []byte(info+"\x01"))
	pseudo := mac(salt, secret)
	block, err := aes.NewCipher(mac(pseudo, []byte("Content-Encoding: aes128gcm\x00\x01"))[:16])
	if err != nil {
		return "", err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return "", err
	}
	text, err := gcm.Open(nil, mac(pseudo, []byte("Content-Encoding: nonce\x00\x01"))[:12], body[86:], nil)
	if err != nil {
		return "", err
	}
	for len(text) > 0 && text[len(text)-1] == 0 {
		text = text[:len(text)-1]
	}
	if len(text) == 0 || text[len(text)-1] != 2 {
		return "", errors.New("the last record does not end as one")
	}
	return string(text[:len(text)-1]), nil
}

func mac(key, text []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(text)
	return m.Sum(nil)
}
