// Package letter turns a scheduling message (RFC 5546) into a mail that people like to read (RFC 6047).
//
// It is given all that it needs and knows no network, no store and no user: the same letter makes the
// same bytes, however often it is sent.
package letter
