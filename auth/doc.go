// Package auth identifies callers: it keeps users, passwords and access tokens, checks
// credentials without letting a flood of wrong ones hurt anybody, and stands in front of the doors.
//
// [calendar.Caller.May] decides what the caller may then do.
package auth
