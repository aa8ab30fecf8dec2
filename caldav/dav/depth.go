package dav

import (
	"net/http"
	"strings"
)

// Depth is the Depth header of RFC 4918 §10.2.
type Depth uint8

// The depths.
const (
	DepthMissing Depth = iota
	DepthZero
	DepthOne
	DepthInfinity
)

var depths = map[string]Depth{"": DepthMissing, "0": DepthZero, "1": DepthOne, "infinity": DepthInfinity}

// Depth reads the header.
func (x *Exchange) Depth() (Depth, error) {
	d, ok := depths[strings.ToLower(strings.TrimSpace(x.R.Header.Get("Depth")))]
	if !ok {
		return d, Refuse(http.StatusBadRequest, "Depth must be 0, 1 or infinity")
	}
	return d, nil
}

// DepthZero refuses any Depth but 0, for reports that are defined for a single resource (RFC 3253 §3.6, RFC 3744 §9).
func (x *Exchange) DepthZero() error {
	d, err := x.Depth()
	if err == nil && d != DepthMissing && d != DepthZero {
		return Refuse(http.StatusBadRequest, "this report needs Depth: 0")
	}
	return err
}
