package mcp

import (
	"encoding/json"
	"strings"
	"sync"
)

// heldMost limits the number of cached lists. A token restricted to some tools has a list of its own.
const heldMost = 64

// heldSchemas caches the result schemas by list of tools. They take longer to encode than the rest of the list, and
// depend only on the tools in it.
type heldSchemas struct {
	mu   sync.Mutex
	held map[string]map[string]json.RawMessage
}

// of returns the outputSchemas of a list of tools. They are shared, so callers must not change them.
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
