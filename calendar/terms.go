package calendar

import (
	"encoding/json"
	"fmt"
)

// Terms are the terms of an offered share, as the journal stores them. The JSON names are stored and must not
// change.
type Terms struct {
	Access     Access `json:"access"`
	Title      string `json:"title,omitempty"`
	CommonName string `json:"common_name,omitempty"`
}

// TermsOf returns the terms of a share.
func TermsOf(s Share) Terms { return Terms{s.Access, s.Title, s.CommonName} }

// Encode encodes the terms for the journal.
func (o Terms) Encode() []byte {
	data, err := json.Marshal(o)
	if err != nil {
		// A number and texts: JSON can encode all of them.
		panic(fmt.Sprintf("encoding an offer: %v", err))
	}
	return data
}

// DecodeTerms decodes terms from the journal.
func DecodeTerms(data []byte) (Terms, error) {
	var o Terms
	if err := json.Unmarshal(data, &o); err != nil {
		return o, fmt.Errorf("reading a share from the journal: %w", err)
	}
	return o, nil
}
