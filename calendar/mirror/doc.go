// Package mirror replicates calendars of other servers. It fetches their changes, and it sends local changes to the
// source before they are stored here. It knows no protocol: a [Source] talks to an account.
package mirror
