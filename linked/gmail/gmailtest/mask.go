package gmailtest

import (
	"fmt"
	"net/http"
	"strings"
)

// check rejects a response with a field that the API description does not have.
func (s *Server) check(schema string, body any) error {
	switch value := body.(type) {
	case map[string]any:
		for name, inner := range value {
			kind, known := s.fields[schema+"."+name]
			if !known {
				return no(http.StatusInternalServerError, "backendError", "there is no field "+schema+"."+name)
			}
			if err := s.check(strings.TrimPrefix(kind, "array of "), inner); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range value {
			if err := s.check(schema, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// mask is the fields parameter of a partial response: names with their sub-fields, or nil for all.
type mask map[string]mask

// parseMask parses "a,b(c,d)".
func parseMask(text string) (m mask, rest string, err error) {
	m = mask{}
	for {
		end := strings.IndexAny(text, ",()")
		if end < 0 {
			end = len(text)
		}
		name := text[:end]
		if name == "" {
			return nil, "", fmt.Errorf("invalid field selection %q", text)
		}
		m[name], text = nil, text[end:]
		if strings.HasPrefix(text, "(") {
			if m[name], text, err = parseMask(text[1:]); err != nil {
				return nil, "", err
			}
			if !strings.HasPrefix(text, ")") {
				return nil, "", fmt.Errorf("invalid field selection %q", text)
			}
			text = text[1:]
		}
		if !strings.HasPrefix(text, ",") {
			return m, text, nil
		}
		text = text[1:]
	}
}

// masked applies a mask to a response. It rejects names that the API description does not have.
func (s *Server) masked(schema string, body any, text string) (any, error) {
	m, rest, err := parseMask(text)
	if err != nil || rest != "" {
		return nil, no(http.StatusBadRequest, "invalidParameter", "Invalid field selection "+rest)
	}
	return s.cut(schema, body, m)
}

func (s *Server) cut(schema string, body any, m mask) (any, error) {
	if m == nil {
		return body, nil
	}
	if list, is := body.([]any); is {
		var all []any
		for _, one := range list {
			left, err := s.cut(schema, one, m)
			if err != nil {
				return nil, err
			}
			all = append(all, left)
		}
		return all, nil
	}
	object, is := body.(map[string]any)
	if !is {
		return nil, no(http.StatusBadRequest, "invalidParameter", schema+" has no fields")
	}
	out := map[string]any{}
	for name, inner := range m {
		kind, known := s.fields[schema+"."+name]
		if !known {
			return nil, no(http.StatusBadRequest, "invalidParameter", "Invalid field selection "+name)
		}
		value, has := object[name]
		if !has {
			continue
		}
		left, err := s.cut(strings.TrimPrefix(kind, "array of "), value, inner)
		if err != nil {
			return nil, err
		}
		out[name] = left
	}
	return out, nil
}
