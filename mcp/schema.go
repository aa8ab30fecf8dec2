package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// kind is a type of JSON Schema.
type kind string

// The kinds that values have. Hosts differ in what else of JSON Schema they read, so there is
// nothing else: no list of types, no $ref, no combination.
const (
	text   kind = "string"
	yesNo  kind = "boolean"
	number kind = "integer"
	listOf kind = "array"
	group  kind = "object"
)

// field is a parameter of a tool. The schema that a model sees and the check of what it sends are
// made from the same row.
type field struct {
	name string
	kind kind
	// doc says what its name and its words do not.
	doc      string
	optional bool
	// first tells that it must be given by clients of the first version, whose contract says so.
	first bool
	// longest bounds a text, in characters; least and most bound a number, and most how many items a list has.
	// The schema leaves them out: not every host reads such words, and they cost. Where a person could want more,
	// doc says how much there may be.
	longest, least, most int
	// words are all that a text may be, if it is not free.
	words []string
	// item is the kind of a list's items: text or number.
	item kind
	// fill reads what was sent into what the parameter is bound to, or says what is wrong with it.
	fill func(f field, raw json.RawMessage) (complaint string)
	// writes tells that the tool changes something, names that the text is written nowhere, but names what is there.
	writes, names bool
}

// members are those of an object of JSON, in their order: a person fills a form in from the top, and a model that
// is held to a schema writes what it has in the schema's order.
type members []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the object.
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

// inputSchema is the schema of a tool's arguments.
func inputSchema(fields []field, v version) json.RawMessage {
	var properties members
	var required []string
	for _, f := range fields {
		properties = append(properties, member{f.name, f.schema()})
		if !f.optional || f.first && v.plain() {
			required = append(required, f.name)
		}
	}
	// What else is sent is refused (see unknown), and hosts that check a call before they make it can know so.
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

// objectSchema leaves open what else there may be, as results have nothing else: to say so would cost each object.
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
		// Strings, numbers and lists; there is nothing in them that JSON can't hold.
		panic(fmt.Sprintf("encoding a schema: %v", err))
	}
	return data
}
