// Package webpush makes messages that push services carry to programs on people's devices: encrypted so that only the
// program reads them (RFC 8291), and signed so that the service knows whose they are (RFC 8292, VAPID).
//
// It knows nobody of the house, keeps nothing and sends nothing: a request is what it makes (RFC 8030 §5).
package webpush
