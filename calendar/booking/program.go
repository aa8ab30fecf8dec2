package booking

import "time"

// The data that programs exchange with a page, in JSON. It is the same in the JSON API and for assistants. Times are
// RFC 3339. The names are documented and must not change.

// Visitor is a visitor whose program asks for a page.
type Visitor struct {
	// Page is the name of the page. SignedIn is set if the visitor has an account and a session.
	Page     string
	SignedIn bool
	// Network is the hash of the network that holds are counted for.
	Network string
	// Language is the language of the mail if the program names none.
	Language string
}

// Listing is a page with its free times.
type Listing struct {
	Page Card `json:"page"`
	// Minutes is the length that the times are free for, Timezone the zone that they are written in.
	Minutes  int    `json:"minutes"`
	Timezone string `json:"timezone"`
	Times    []Time `json:"times"`
	// More is the date to ask for next if there are more times in the days asked for.
	More string `json:"more_from,omitempty"`
	// Next is the next free time after these days, if they have none.
	Next *Time `json:"next,omitempty"`
}

// Time is a free time.
type Time struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// Card describes a page.
type Card struct {
	Title string `json:"title"`
	Text  string `json:"text,omitempty"`
	Owner string `json:"owner"`
	// People are the people whom a visitor meets, if the page has several.
	People   []string `json:"people,omitempty"`
	Location string   `json:"location,omitempty"`
	// Lengths are in minutes.
	Lengths   []int      `json:"lengths"`
	Questions []Question `json:"questions,omitempty"`
	// Notice is the minimum time until a booking in hours, Ahead the maximum in days.
	Notice int `json:"notice_hours"`
	Ahead  int `json:"days_ahead"`
	// Address is the page for people, MCP the endpoint for assistants.
	Address string `json:"address"`
	MCP     string `json:"mcp,omitempty"`
}

// Range is the part of the free times that a program asks for.
type Range struct {
	// Minutes is a length of the page, 0 the first. Timezone "" is the owner's.
	Minutes  int    `json:"minutes,omitempty"`
	Timezone string `json:"timezone,omitempty"`
	// From is the first day, today if it is "". Days is their number, DefaultDays if it is 0.
	From string `json:"from,omitempty"`
	Days int    `json:"days,omitempty"`
}

// The number of days that a program can ask for, and the number of times in one response.
const (
	DefaultDays = 7
	MostDays    = 31
	MostTimes   = 300
)

// Request is a program's choice of a time for a visitor.
type Request struct {
	Start    string   `json:"start"`
	Minutes  int      `json:"minutes,omitempty"`
	Name     string   `json:"name"`
	Address  string   `json:"address"`
	Answers  []string `json:"answers,omitempty"`
	Timezone string   `json:"timezone,omitempty"`
	// Language is the language of the mail.
	Language string `json:"language,omitempty"`
}

// Receipt is the state of a hold or booking. It has nothing that confirms it.
type Receipt struct {
	// Hold identifies it for programs.
	Hold string `json:"hold"`
	// State is held, booked, cancelled or expired.
	State string `json:"state"`
	Title string `json:"title"`
	// With names the people whom the visitor meets.
	With  string `json:"with"`
	Start string `json:"start"`
	End   string `json:"end"`
	// Expires is when it ends without a confirmation.
	Expires string `json:"expires,omitempty"`
}

// RequestError is an error with a code for programs.
type RequestError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error returns the message.
func (r *RequestError) Error() string { return r.Message }

// PageParameter is the parameter of the MCP server's address that names a page.
const PageParameter = "book"

// Owned is a page as its owner's assistant sees it.
type Owned struct {
	ID, Title, Address string
	// On is set if visitors can open it.
	On bool
}

// Coming is a coming booking of a user's page.
type Coming struct {
	Title      string
	Start, End time.Time
	// Name and Address are the visitor's, Calendar and UID the event's.
	Name, Address, Calendar, UID string
}
