package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Kind is a type of JSON Schema.
type Kind string

// The types of values. Hosts differ in their support for JSON Schema, so nothing more is used: no type lists, no $ref,
// no combinations.
const (
	Text   Kind = "string"
	YesNo  Kind = "boolean"
	Number Kind = "integer"
	List   Kind = "array"
	Group  Kind = "object"
)

// Members are the members of a JSON object, in order. Users fill in a form from top to bottom, and a model that is held
// to a schema writes its arguments in the schema's order.
type Members []member

type member struct {
	name  string
	value any
}

// With appends a member.
func (m Members) With(name string, value any) Members { return append(m, member{name, value}) }

// MarshalJSON writes the members in their order.
func (m Members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, one := range m {
		b.WriteByte("{,"[min(i, 1)])
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, err
		}
		value, err := EncodeJSON(one.value)
		if err != nil {
			return nil, err
		}
		b.Write(append(append(name, ':'), value...))
	}
	if len(m) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Typed returns the schema of a type.
func Typed(k Kind) Members { return Members{{"type", k}} }

// ObjectSchema does not forbid additional properties: results have none, and saying so would cost tokens in each
// object.
func ObjectSchema(properties Members, required []string) Members {
	object := Members{{"type", Group}, {"properties", properties}}
	if len(required) > 0 {
		object = append(object, member{"required", required})
	}
	return object
}

// EncodeSchema encodes a schema as JSON.
func EncodeSchema(schema Members) json.RawMessage {
	data, err := schema.MarshalJSON()
	if err != nil {
		// Strings, numbers and lists always marshal.
		panic(fmt.Sprintf("encoding a schema: %v", err))
	}
	return data
}

// EncodeJSON encodes JSON without escaping < and >, like the results.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
