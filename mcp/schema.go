package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// kind is a type of JSON Schema.
type kind string

// The types of values. Hosts differ in their support for JSON Schema, so nothing more is used: no type lists, no $ref,
// no combinations.
const (
	text   kind = "string"
	yesNo  kind = "boolean"
	number kind = "integer"
	listOf kind = "array"
	group  kind = "object"
)

// members are the members of a JSON object, in order. Users fill in a form from top to bottom, and a model that is held
// to a schema writes its arguments in the schema's order.
type members []member

type member struct {
	name  string
	value any
}

// with appends a member.
func (m members) with(name string, value any) members { return append(m, member{name, value}) }

// MarshalJSON writes the members in their order.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, one := range m {
		b.WriteByte("{,"[min(i, 1)])
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, err
		}
		value, err := encodeJSON(one.value)
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

// typed returns the schema of a type.
func typed(k kind) members { return members{{"type", k}} }

// objectSchema does not forbid additional properties: results have none, and saying so would cost tokens in each
// object.
func objectSchema(properties members, required []string) members {
	object := members{{"type", group}, {"properties", properties}}
	if len(required) > 0 {
		object = append(object, member{"required", required})
	}
	return object
}

func encodeSchema(schema members) json.RawMessage {
	data, err := schema.MarshalJSON()
	if err != nil {
		// Strings, numbers and lists always marshal.
		panic(fmt.Sprintf("encoding a schema: %v", err))
	}
	return data
}

// encodeJSON encodes JSON without escaping < and >, like the results.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
