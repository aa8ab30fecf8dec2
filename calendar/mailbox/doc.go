// Package mailbox lets programs read users' linked mail accounts. It handles ownership, authorization, rate limits,
// and accounts that have lost their authorization. It knows no protocol and stores no mail; a [Source] accesses an
// account.
package mailbox
