package dav

import (
	"compress/gzip"
	"sync"
)

// Server holds the limits of all exchanges, and the memory that they share.
type Server struct {
	limits Limits
	// lapsed reports whether an error of reading a body must be returned unchanged, since it says nothing about the
	// body.
	lapsed func(error) bool
	// buffers pools the memory of responses, gzips their compressors.
	buffers, gzips sync.Pool
	repeated       repeated
}

// NewServer returns a server whose responses declare the namespaces. base is the encoded path of the service, without
// a final slash. lapsed reports which errors of reading a body say nothing about the body; they are returned
// unchanged.
func NewServer(l Limits, n *Namespaces, base string, lapsed func(error) bool) *Server {
	s := &Server{limits: l, lapsed: lapsed}
	s.buffers.New = func() any { return &Markup{names: n, base: base} }
	s.gzips.New = func() any {
		// The error is impossible: the level is valid.
		gz, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		return gz
	}
	return s
}

// Markup takes a buffer from the pool; Release returns it.
func (s *Server) Markup() *Markup {
	m, _ := s.buffers.Get().(*Markup)
	m.Buf, m.absent = m.Buf[:0], m.absent[:0]
	return m
}

// Release returns a buffer to the pool.
func (s *Server) Release(m *Markup) {
	if cap(m.Buf) <= KeptBytes {
		s.buffers.Put(m)
	}
}
