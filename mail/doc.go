// Package mail sends and receives scheduling messages by mail (RFC 6047). It delivers letters from the outbox to an
// SMTP server, and it takes mail from a mailbox (IMAP), a mail server (LMTP) or a pipe. It also gives people without a
// calendar a link to answer.
//
// The service decides how a message changes events. This package verifies the sender of a mail, and it ensures that no
// message is sent twice or retried forever.
package mail
