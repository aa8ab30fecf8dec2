// Package auth authenticates callers. It keeps users, passwords and access tokens, and it checks credentials at every
// door so that a flood of wrong ones harms no other caller.
//
// [calendar.Caller.May] then decides about each action of the caller.
package auth
