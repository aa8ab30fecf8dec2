// Package mail carries scheduling messages out of the house and in (RFC 6047): letters from the outbox to an SMTP
// server, and mail from a mailbox (IMAP), from a mail server (LMTP) or from a pipe to the middle. It also gives people
// without a calendar a link by which they answer.
//
// It decides nothing about events: what a message does is for the middle to say. It decides whether a mail has the
// sender that it claims, and that no message is sent twice or for ever.
package mail
