package calendar

// Recipient is a person without an account here to whom a change writes.
type Recipient struct {
	// User is the one in whose name the message is sent.
	User UserID
	To   MailAddress
}
