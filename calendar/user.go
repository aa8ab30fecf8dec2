package calendar

import "time"

// User is a person with an account.
type User struct {
	ID   UserID
	Name string // what they log in with, lower case
	// DisplayName is how others see them; empty means Name.
	DisplayName string
	Email       string
	// Timezone is the user's own zone (IANA); empty means not set.
	Timezone string
	Created  time.Time
}

// Title returns the name that people read.
func (u User) Title() string {
	if u.DisplayName != "" {
		return u.DisplayName
	}
	return u.Name
}
