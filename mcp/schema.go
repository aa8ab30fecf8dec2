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

// field is a parameter of a tool. It yields both the schema for the model and the validation of arguments.
type field struct {
	name string
	kind kind
	// doc describes the parameter, if its name and words are not enough.
	doc      string
	optional bool
	// first is set if clients of the first version must give it, as their contract says.
	first bool
	// longest limits a string, in characters. least and most limit a number; most also limits the items of a list. The
	// schema leaves them out: not every host reads them, and they cost tokens. If users may want more, doc states the
	// limit.
	longest, least, most int
	// words are the only allowed values of a string, if set.
	words []string
	// item is the type of a list's items: text or number.
	item kind
	// fill parses an argument into the parameter's target, or returns a complaint.
	fill func(f field, raw json.RawMessage) (complaint string)
	// writes is set if the tool changes data. names is set if the string is only used to find an object.
	writes, names bool
}

// members are the members of a JSON object, in order. Users fill in a form from top to bottom, and a model that is held
// to a schema writes its arguments in the schema's order.
type members []member

type member struct {
	name  string
	value any
}

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

// inputSchema returns the schema of a tool's arguments.
func inputSchema(fields []field, v version) json.RawMessage {
	var properties members
	var required []string
	for _, f := range fields {
		properties = append(properties, member{f.name, f.schema()})
		if !f.optional || f.first && v.plain() {
			required = append(required, f.name)
		}
	}
	// Unknown arguments are refused (see unknown). This lets hosts check a call beforehand.
	return encodeSchema(append(objectSchema(properties, required), member{"additionalProperties", false}))
}

func (f field) schema() members {
	s := members{{"type", f.kind}}
	words := members{{"enum", f.words}}[:min(len(f.words), 1)]
	if f.kind == listOf {
		s = append(s, member{"items", append(members{{"type", f.item}}, words...)})
	} else {
		s = append(s, words...)
	}
	if f.doc != "" {
		s = append(s, member{"description", f.doc})
	}
	return s
}

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
