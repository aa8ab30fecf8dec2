package calendar

// Recipient is a person without an account here who gets a message about a change.
type Recipient struct {
	// User is the user in whose name the message is sent.
	User UserID
	To   MailAddress
}
