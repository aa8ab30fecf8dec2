package mcp

import (
	"encoding/json"
	"strings"
	"sync"
)

// heldMost bounds the lists whose schemas are held. A token that is given some tools by name has a list of its own.
const heldMost = 64

// heldSchemas are the schemas of results of the lists that were asked for. They take longer to write than all else of a
// list, and depend on nothing but which tools are in it.
type heldSchemas struct {
	mu   sync.Mutex
	held map[string]map[string]json.RawMessage
}

// of returns the outputSchemas of a list of tools. They are shared, and so must not be changed.
func (s *heldSchemas) of(tools []tool) map[string]json.RawMessage {
	list := strings.Join(namesOfTools(tools), " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	schemas, found := s.held[list]
	if !found {
		schemas = outputSchemas(tools)
		if s.held == nil || len(s.held) >= heldMost {
			s.held = make(map[string]map[string]json.RawMessage)
		}
		s.held[list] = schemas
	}
	return schemas
}
