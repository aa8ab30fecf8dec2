package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
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
	name     string
	kind     kind
	doc      string
	optional bool
	// longest bounds a text, in characters.
	longest int
	// least and most bound a number; most also how many items a list has. The schema leaves
	// them out: not every host reads such words, so doc says them too.
	least, most int
	// words are all that a text may be, if it is not free.
	words []string
	// item is the kind of a list's items: text or number.
	item kind
}

// inputSchema is the schema of a tool's arguments.
func inputSchema(fields []field) json.RawMessage {
	properties, required := make(map[string]any, len(fields)), []string(nil)
	for _, f := range fields {
		properties[f.name] = f.schema()
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return encodeSchema(objectSchema(properties, required))
}

func (f field) schema() map[string]any {
	s := map[string]any{"type": f.kind, "description": f.doc}
	value := s
	if f.kind == listOf {
		value = map[string]any{"type": f.item}
		s["items"] = value
	}
	if f.longest > 0 {
		value["maxLength"] = f.longest
	}
	if len(f.words) > 0 {
		value["enum"] = f.words
	}
	return s
}

// outputSchema is the schema of a tool's structured results, refusals included: the SDKs for
// TypeScript hold these to it as well, and keep from their users what doesn't fit. So no field
// is required.
func outputSchema(result any) json.RawMessage {
	properties, _ := propertiesOf(reflect.TypeOf(result))
	properties["error"] = schemaOf(reflect.TypeFor[problem]())
	return encodeSchema(objectSchema(properties, nil))
}

// schemaOf is the schema of what encoding/json writes of a type.
func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return objectSchema(propertiesOf(t))
	case reflect.Slice:
		return map[string]any{"type": listOf, "items": schemaOf(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": yesNo}
	case reflect.Int:
		return map[string]any{"type": number}
	case reflect.String:
		return map[string]any{"type": text}
	default:
		panic(fmt.Sprintf("no result has a %s in it", t)) // the table of tools is read at the start
	}
}

// propertiesOf are the fields of a result, and the names of those that it always has. The tag doc says
// more of one, and is only for what would be misread: most hosts don't show it to the model, which sees
// the results, and it would make a list of all tools a third longer.
func propertiesOf(t reflect.Type) (properties map[string]any, required []string) {
	properties = make(map[string]any)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue // its fields follow
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		schema := schemaOf(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			schema["description"] = doc
		}
		if properties[name] = schema; options == "" {
			required = append(required, name)
		}
	}
	return properties, required
}

func objectSchema(properties map[string]any, required []string) map[string]any {
	object := map[string]any{"type": group, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		object["required"] = required
	}
	return object
}

func encodeSchema(schema map[string]any) json.RawMessage {
	data, err := json.Marshal(schema)
	if err != nil {
		// Maps of strings, numbers and lists; there is nothing in them that JSON can't hold.
		panic(fmt.Sprintf("encoding a schema: %v", err))
	}
	return data
}
