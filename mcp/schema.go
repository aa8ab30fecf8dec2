package mcp

import (
	"encoding/json"
	"fmt"
)

// kind is a type of JSON Schema.
type kind string

// The kinds that fields have. Hosts differ in what else of JSON Schema they read, so there is
// nothing else: no list of types, no $ref, no combination.
const (
	text   kind = "string"
	yesNo  kind = "boolean"
	listOf kind = "array"
)

// field is a parameter of a tool or a field of its result. The schema that a model sees and
// the check of what it sends are made from the same row.
type field struct {
	name     string
	kind     kind
	doc      string
	optional bool
	// longest bounds a text, in characters.
	longest int
	// of are the fields of the objects in a list.
	of []field
}

// schemaOf writes the schema of a closed object.
func schemaOf(fields []field) json.RawMessage {
	data, err := json.Marshal(objectSchema(fields))
	if err != nil {
		// Maps of strings, numbers and lists; there is nothing in them that JSON can't hold.
		panic(fmt.Sprintf("encoding a schema: %v", err))
	}
	return data
}

func objectSchema(fields []field) map[string]any {
	properties := make(map[string]any, len(fields))
	required := []string{}
	for _, f := range fields {
		properties[f.name] = f.schema()
		if !f.optional {
			required = append(required, f.name)
		}
	}
	object := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		object["required"] = required
	}
	return object
}

func (f field) schema() map[string]any {
	s := map[string]any{"type": f.kind, "description": f.doc}
	if f.longest > 0 {
		s["maxLength"] = f.longest
	}
	if f.kind == listOf {
		s["items"] = objectSchema(f.of)
	}
	return s
}
