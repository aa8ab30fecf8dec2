package mailbox

import (
	"context"
	"time"
)

// Source is one account's mail, spoken to in its own protocol. An error is one of package mirror's, or wraps an [Answer].
type Source interface {
	// Search lists messages, Threads conversations, the latest first.
	Search(ctx context.Context, q Query) (Page, error)
	Threads(ctx context.Context, q Query) (Page, error)
	// Message reads one; with whole its text, too.
	Message(ctx context.Context, id string, whole bool) (Message, error)
	// Thread reads the messages of a conversation, the earliest first.
	Thread(ctx context.Context, id string, whole bool) (Thread, error)
}

// Answer is an error that has the status with which an account's server said no.
type Answer interface {
	error
	AnswerStatus() int
}

// Query is what is looked for.
type Query struct {
	// Text is in the provider's own language of queries; "" asks for all.
	Text string
	// Most is how many are wanted.
	Most int
	// Token is where a former page ended; "" begins.
	Token string
}

// Page is a part of what was found.
type Page struct {
	Found []Found
	// Next is where the next page begins; "" after the last.
	Next string
}

// Found is a message, or a conversation where Message is "".
type Found struct {
	Message, Thread string
	Snippet         string
}

// Message is one mail. What it says is somebody else's, whatever it looks like.
type Message struct {
	ID, Thread string
	// From, To, Cc, Subject and Date are its headers, decoded and cut.
	From, To, Cc, Subject, Date string
	// Received is when it came to the account.
	Received time.Time
	Snippet  string
	Labels   []string
	// Body is its text, where that was asked for, and Cut how many characters of it are left out.
	Body string
	Cut  int
	// Attachments are at most AttachmentsMost of its files, Left counts the others.
	Attachments []Attachment
	Left        int
}

// AttachmentsMost is how many files of a mail are told of.
const AttachmentsMost = 100

// Attachment is a file in a mail.
type Attachment struct {
	// ID names it within its mail, for good.
	ID             string
	Name, MIMEType string
	// Size is in bytes.
	Size int
	// Alias is another name for it, which holds for a while.
	Alias string
}

// Thread is a conversation.
type Thread struct {
	ID       string
	Messages []Message
	// Left counts the messages, the earliest, that are left out.
	Left int
}
