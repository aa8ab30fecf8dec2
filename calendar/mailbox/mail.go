package mailbox

import (
	"context"
	"time"
)

// Source reads the mail of one account in its own protocol. Its errors are errors of package mirror, or wrap an
// [Answer].
type Source interface {
	// Search lists messages, and Threads lists conversations, latest first.
	Search(ctx context.Context, q Query) (Page, error)
	Threads(ctx context.Context, q Query) (Page, error)
	// Message reads a message, with its text if whole is set.
	Message(ctx context.Context, id string, whole bool) (Message, error)
	// Thread reads the messages of a conversation, earliest first.
	Thread(ctx context.Context, id string, whole bool) (Thread, error)
}

// Answer is an error with the HTTP status of the account's server.
type Answer interface {
	error
	AnswerStatus() int
}

// Query is a search for mail.
type Query struct {
	// Text is in the provider's query language; "" matches everything.
	Text string
	// Most is the page size.
	Most int
	// Token continues after a former page; "" starts at the beginning.
	Token string
}

// Page is one page of results.
type Page struct {
	Found []Found
	// Next is the token of the next page; "" on the last page.
	Next string
	// Cut is set on the last page if the query has more results than one query may return.
	Cut bool
}

// Found is a message, or a conversation if Message is "".
type Found struct {
	Message, Thread string
	Snippet         string
}

// Message is one mail. Its content is untrusted.
type Message struct {
	ID, Thread string
	// From, To, Cc, Subject and Date are its headers, decoded and shortened.
	From, To, Cc, Subject, Date string
	// Received is the time when the account received it.
	Received time.Time
	Snippet  string
	Labels   []string
	// Body is the text if it was requested, and Cut the number of characters that were cut off.
	Body string
	Cut  int
	// Attachments are at most AttachmentsMost of its files; Left counts the others.
	Attachments []Attachment
	Left        int
}

// AttachmentsMost limits the listed files of a mail.
const AttachmentsMost = 100

// Attachment is a file in a mail.
type Attachment struct {
	// ID is its permanent ID within the mail.
	ID             string
	Name, MIMEType string
	// Size is in bytes.
	Size int
	// Alias is a temporary ID.
	Alias string
}

// Thread is a conversation.
type Thread struct {
	ID       string
	Messages []Message
	// Left counts the earliest messages, which are left out.
	Left int
}
