// Package letter turns a scheduling message (RFC 5546) into a readable mail (RFC 6047).
//
// It is a pure function of its input: it uses no network, store or user. The same letter gives the same bytes, however
// often it is sent.
package letter
