package rest

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Text encodes JSON without escaping HTML.
func Text(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// Decode decodes an object into a value and returns the fields that has does not claim; nil if there are none.
func Decode(data []byte, into any,
	has func(name string, value json.RawMessage) bool,
) (map[string]json.RawMessage, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(compact.Bytes(), into); err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(compact.Bytes(), &all); err != nil {
		return nil, err
	}
	if maps.DeleteFunc(all, has); len(all) == 0 {
		return nil, nil // no further fields are left, and no error happened
	}
	return all, nil
}

// Encode encodes a value together with further fields.
func Encode(v any, rest map[string]json.RawMessage) ([]byte, error) {
	data, err := Text(v)
	if err != nil || len(rest) == 0 {
		return data, err
	}
	others, err := Text(rest)
	if err != nil || bytes.Equal(data, []byte("{}")) {
		return others, err
	}
	data[len(data)-1] = ','
	return append(data, others[1:]...), nil
}
