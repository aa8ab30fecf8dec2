// Package webpush makes messages for push services: encrypted so that only the subscriber can read them (RFC 8291), and
// signed so that the service can identify their sender (RFC 8292, VAPID).
//
// It knows nothing about users or calendars, stores nothing and sends nothing: its result is an HTTP request (RFC 8030
// §5).
package webpush
