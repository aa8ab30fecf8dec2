package graphtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

//go:embed fields.txt
var fields string

// schema are the types of fields, by "type.field", and the words of enumerations, by "type=word".
type schema map[string]string

func newSchema() schema {
	s := schema{}
	for line := range strings.SplitSeq(fields, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "base":
			s["base "+words[1]] = words[2]
		case len(words) == 1:
			s[words[0]] = "word"
			s["words "+words[0][:strings.IndexByte(words[0], '=')]] = "words"
		default:
			s[words[0]] = words[1]
		}
	}
	return s
}

// problem is an error as Graph returns it.
// https://learn.microsoft.com/en-us/graph/errors
type problem struct {
	status        int
	code, message string
}

func bad(code, format string, values ...any) *problem {
	return &problem{http.StatusBadRequest, code, fmt.Sprintf(format, values...)}
}

func missing() *problem {
	return &problem{http.StatusNotFound, "ErrorItemNotFound", "The specified object was not found in the store."}
}

func (p *problem) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"code": p.code, "message": p.message, "innerError": map[string]any{"request-id": "1", "client-request-id": "1"},
	}})
}

// field is the type of a field of a type or its bases.
func (s schema) field(kind, name string) string {
	for ; kind != ""; kind = s["base "+kind] {
		if found := s[kind+"."+name]; found != "" {
			return found
		}
	}
	return ""
}

// check validates a JSON value. Annotations such as @odata.type are valid in every object.
// https://learn.microsoft.com/en-us/graph/use-the-api#writing-data
func (s schema) check(kind, at string, value any) *problem {
	wrong := bad("RequestBodyRead", "Cannot convert the value of %s to the type %s.", at, kind)
	item, list := strings.CutPrefix(kind, "Collection(")
	name, complex := strings.CutPrefix(kind, "graph.")
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		if !list {
			return wrong
		}
		for _, one := range v {
			if p := s.check(strings.TrimSuffix(item, ")"), at, one); p != nil {
				return p
			}
		}
		return nil
	case map[string]any:
		if !complex || s["words "+name] != "" {
			return wrong
		}
		for _, field := range slices.Sorted(maps.Keys(v)) {
			of := s.field(name, field)
			switch {
			case field == "id", strings.Contains(field, "@odata."), of == "Collection(graph.extension)":
			case of == "":
				return bad("RequestBodyRead", "The property '%s' does not exist on type 'microsoft.graph.%s'. Make "+
					"sure to only use property names that are defined by the type.", field, name)
			default:
				if p := s.check(of, at+"/"+field, v[field]); p != nil {
					return p
				}
			}
		}
		return nil
	}
	ok := false
	switch v := value.(type) {
	case string:
		_, dated := time.Parse(time.DateOnly, v)
		_, timed := time.Parse(time.RFC3339, v)
		ok = kind == "Edm.String" || s[name+"="+v] != "" || kind == "Edm.Date" && dated == nil ||
			kind == "Edm.DateTimeOffset" && timed == nil
		if s["words "+name] != "" && !ok {
			return bad("RequestBodyRead", "Requested value '%s' was not found.", v)
		}
	case bool:
		ok = kind == "Edm.Boolean"
	case float64:
		ok = kind == "Edm.Double" || kind == "Edm.Int32" && v == float64(int32(v))
	}
	if !ok {
		return wrong
	}
	return nil
}
