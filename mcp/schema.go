package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
)

// kind is a type of JSON Schema.
type kind string

// The kinds that fields have. Hosts differ in what else of JSON Schema they read, so there is
// nothing else: no list of types, no $ref, no combination.
const (
	text   kind = "string"
	yesNo  kind = "boolean"
	number kind = "integer"
	listOf kind = "array"
	group  kind = "object"
)

// field is a parameter of a tool or a field of its result. The schema that a model sees and
// the check of what it sends are made from the same row.
type field struct {
	name string
	kind kind
	// doc may be missing of a result whose name says it all: models read every word of a list.
	doc      string
	optional bool
	// telling keeps doc in the schema of results, for what no name and no example says.
	telling bool
	// longest bounds a text, in characters.
	longest int
	// least and most bound a number; most also how many items a list has. The schema leaves
	// them out: not every host reads such words, so doc says them too.
	least, most int
	// words are all that a text may be, if it is not free.
	words []string
	// item is the kind of a list's items: text, number, or else groups.
	item kind
	// of are the fields of a group, or of the groups in a list.
	of []field
}

// errorField is what a refusal has in place of a tool's own fields.
var errorField = field{
	name: "error", kind: group, optional: true,
	of: []field{
		{name: "code", kind: text},
		{name: "message", kind: text},
		{name: "hint", kind: text, optional: true},
	},
}

// inputSchema is the schema of a tool's arguments.
func inputSchema(fields []field) json.RawMessage { return encodeSchema(objectSchema(fields)) }

// outputSchema is the schema of a tool's structured results, refusals included: the SDKs for
// TypeScript hold these to it as well, and keep from their users what doesn't fit. So no field
// is required. What is said of the fields is left out but where they would be misread, which makes
// a list of all tools a quarter shorter: most hosts don't show it to the model, who sees the results.
func outputSchema(fields []field) json.RawMessage {
	schema := objectSchema(unsaid(append(slices.Clip(fields), errorField)))
	delete(schema, "required")
	return encodeSchema(schema)
}

// unsaid are the fields without what is said of them, but where that is telling.
func unsaid(fields []field) []field {
	silent := slices.Clone(fields)
	for i := range silent {
		if !silent[i].telling {
			silent[i].doc = ""
		}
		silent[i].of = unsaid(silent[i].of)
	}
	return silent
}

func encodeSchema(schema map[string]any) json.RawMessage {
	data, err := json.Marshal(schema)
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
	s := make(map[string]any)
	switch f.kind {
	case group:
		s = objectSchema(f.of)
	case listOf:
		s["items"] = f.itemSchema()
	case text, yesNo, number:
	}
	if len(f.words) > 0 && f.kind != listOf {
		s["enum"] = f.words
	}
	if f.longest > 0 && f.kind == text {
		s["maxLength"] = f.longest
	}
	if s["type"] = f.kind; f.doc != "" {
		s["description"] = f.doc
	}
	return s
}

func (f field) itemSchema() map[string]any {
	if f.item != text && f.item != number {
		return objectSchema(f.of)
	}
	s := map[string]any{"type": f.item}
	if f.longest > 0 {
		s["maxLength"] = f.longest
	}
	if len(f.words) > 0 {
		s["enum"] = f.words
	}
	return s
}
