// Package push tells others of changes that are kept: programs on devices (WebDAV-Push) and programs elsewhere (webhooks).
//
// What there is to tell is the difference between the calendars' versions and what the store says was told, so a change costs
// nothing here, and nothing is lost with a process. One process at a time tells, under a lease; whether the one who is told
// may still know is asked anew for each message.
package push
