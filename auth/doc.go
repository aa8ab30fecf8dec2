// Package auth answers who is calling: it keeps users, passwords and access tokens, checks
// credentials without letting a flood of wrong ones hurt anybody, and stands in front of the doors.
//
// What the caller may then do is decided by [calendar.Caller.May].
package auth
