package dav

import (
	"encoding/xml"
	"errors"
	"net/http"
)

// Propfind is DAV:propfind (RFC 4918 §14.20).
type Propfind struct {
	XMLName  xml.Name  `xml:"DAV: propfind"`
	Prop     *Names    `xml:"DAV: prop"`
	AllProp  *struct{} `xml:"DAV: allprop"`
	PropName *struct{} `xml:"DAV: propname"`
	Include  Names     `xml:"DAV: include"`
}

// check refuses a request with several forms.
func (q *Propfind) check() error {
	asked := 0
	for _, is := range []bool{q.Prop != nil, q.AllProp != nil, q.PropName != nil} {
		if is {
			asked++
		}
	}
	if asked != 1 {
		return Refuse(http.StatusBadRequest, "DAV:propfind must hold one of prop, allprop and propname")
	}
	return nil
}

// Propfind reads the request of a PROPFIND. The result is shared between requests and must not be modified.
func (x *Exchange) Propfind() (Propfind, error) {
	q, err := x.question()
	if errors.Is(err, ErrNoBody) {
		q.AllProp, err = &struct{}{}, nil // §9.1: no body means allprop
	}
	return q, err
}
