package calendar

import (
	"encoding/json"
	"fmt"
)

// Terms are what a user was offered, as the journal keeps it where of an object it keeps the
// bytes. The names are stored: they do not change.
type Terms struct {
	Access     Access `json:"access"`
	Title      string `json:"title,omitempty"`
	CommonName string `json:"common_name,omitempty"`
}

// TermsOf returns what a share offers.
func TermsOf(s Share) Terms { return Terms{s.Access, s.Title, s.CommonName} }

// Encode returns them as the journal keeps them.
func (o Terms) Encode() []byte {
	data, err := json.Marshal(o)
	if err != nil {
		// A number and texts; there is nothing in them that JSON cannot hold.
		panic(fmt.Sprintf("encoding an offer: %v", err))
	}
	return data
}

// DecodeTerms reads them back.
func DecodeTerms(data []byte) (Terms, error) {
	var o Terms
	if err := json.Unmarshal(data, &o); err != nil {
		return o, fmt.Errorf("reading a share from the journal: %w", err)
	}
	return o, nil
}
