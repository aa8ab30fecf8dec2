package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// resultSchemas writes the schemas of results, out of the types that hold them. A list of all tools must stay
// short, so that a schema says nothing twice: what a field means stands where the field is met first, and what
// tools that write tell of an event besides is declared by the one that reads it.
type resultSchemas struct {
	// said are the fields that were explained, each with its explanation.
	said map[[2]string]bool
	// listed are the types of items whose fields were told.
	listed map[reflect.Type]bool
	// writes tells that the tool at hand changes something, reader names the tool that has the fields which were
	// left out for that.
	writes bool
	reader string
	// tools are the names of those that are listed.
	tools map[string]bool
	// refuses tells that it was said how a refusal looks.
	refuses bool
}

// outputSchemas are those of tools that are listed together, by name. The tools that most tokens are for come first, and explain.
func outputSchemas(tools []tool) map[string]json.RawMessage {
	inOrder := slices.SortedStableFunc(slices.Values(tools), func(a, b tool) int {
		return cmp.Or(cmp.Compare(a.place(), b.place()), strings.Compare(a.name, b.name))
	})
	schemas, s := make(map[string]json.RawMessage), resultSchemas{said: make(map[[2]string]bool), listed: make(map[reflect.Type]bool), tools: make(map[string]bool)}
	for _, t := range tools {
		s.tools[t.name] = true
	}
	for _, t := range inOrder {
		s.writes, s.reader = !t.hints.readOnly, ""
		schemas[t.name] = s.of(t.gives)
	}
	return schemas
}

// place is the smaller the more tokens see the tool.
func (t tool) place() int {
	place := 0
	if t.mail {
		return 4 // few see them
	}
	if !slices.Contains(coreTools[:], calendar.ToolName(t.name)) {
		place = 2
	}
	if !t.hints.readOnly {
		place++
	}
	return place
}

// of is the schema of a tool's structured results, refusals included: the SDKs for TypeScript hold these to it as
// well, and keep from their users what doesn't fit. So no field is required.
func (s *resultSchemas) of(result any) json.RawMessage {
	fields := s.properties(reflect.TypeOf(result))
	if !s.refuses {
		s.refuses = true
		fields = append(fields, member{"error", members{{"type", group}, {"description", "Of all tools: why not."}}})
	}
	schema := objectSchema(fields, nil)
	if s.reader != "" {
		schema = append(schema, member{"description", "With all that " + s.reader + " tells."})
	}
	return encodeSchema(schema)
}

// schema is that of what encoding/json writes of a type.
func (s *resultSchemas) schema(t reflect.Type) members {
	switch t.Kind() {
	case reflect.Pointer:
		return s.schema(t.Elem())
	case reflect.Struct:
		return objectSchema(s.properties(t), nil)
	case reflect.Slice:
		if s.listed[t.Elem()] {
			return members{{"type", listOf}, {"items", members{{"type", group}}}}
		}
		if t.Elem().Kind() == reflect.Struct {
			s.listed[t.Elem()] = true
		}
		return members{{"type", listOf}, {"items", s.schema(t.Elem())}}
	case reflect.Bool:
		return members{{"type", yesNo}}
	case reflect.Int:
		return members{{"type", number}}
	case reflect.String:
		return members{{"type", text}}
	default:
		panic(fmt.Sprintf("no result has a %s in it", t)) // the table of tools is read at the start
	}
}

// properties are the fields of a result. The tag doc says more of one, and is only for what would be misread: most
// hosts don't show it to the model, which sees the results. The tag in names the tool that declares a field, or the
// fields of what is embedded, for those that write and are listed with it.
func (s *resultSchemas) properties(t reflect.Type) (properties members) {
	for f := range t.Fields() {
		if reader := f.Tag.Get("in"); s.writes && s.tools[reader] {
			s.reader = reader
			continue
		}
		if f.Anonymous {
			properties = append(properties, s.properties(f.Type)...)
			continue
		}
		name, schema := jsonName(f), s.schema(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" && !s.said[[2]string{name, doc}] {
			s.said[[2]string{name, doc}] = true
			schema = append(schema, member{"description", doc})
		}
		properties = append(properties, member{name, schema})
	}
	return properties
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
