package resttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Discovery is a part of a Google API's description: types, methods and parameters.
// https://developers.google.com/discovery/v1/reference/apis
type Discovery struct {
	fields     map[string]map[string]string // types of fields, by type and name
	methods    []Method
	parameters map[string]map[string][]string // type, "repeated" and limits, by method and name
}

// Method is a method of a Google API. Request and Response are types, or "-".
type Method struct {
	Name, Verb, Request, Response string
	path                          []string
}

// Call is a request for a method: the parts of its path, its valid parameters and its body.
type Call struct {
	Method
	Path  map[string]string
	Query url.Values
	Body  map[string]any
}

// Problem is an error as Google's APIs return it.
// https://developers.google.com/workspace/calendar/api/guides/errors
type Problem struct {
	Code                              int
	Domain, Reason, Message, Location string
}

// Invalid is a request with an invalid value.
func Invalid(location, format string, values ...any) *Problem {
	return &Problem{http.StatusBadRequest, "global", "invalid", fmt.Sprintf(format, values...), location}
}

// Write sends the problem.
func (p *Problem) Write(w http.ResponseWriter) {
	one := map[string]any{"domain": p.Domain, "reason": p.Reason, "message": p.Message}
	if p.Location != "" {
		one["location"], one["locationType"] = p.Location, "parameter"
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(p.Code)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"errors": []any{one}, "code": p.Code, "message": p.Message,
	}})
}

// ReadDiscovery reads lines such as "Event.summary string".
func ReadDiscovery(text string) *Discovery {
	d := &Discovery{fields: map[string]map[string]string{}, parameters: map[string]map[string][]string{}}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "method":
			path := strings.Split("/"+words[3], "/")
			d.methods = append(d.methods, Method{words[1], words[2], words[4], words[5], path})
		case words[0] == "parameter":
			put(d.parameters, words[1], words[2], words[3:])
		default:
			at := strings.LastIndexByte(words[0], '.')
			put(d.fields, words[0][:at], words[0][at+1:], strings.Join(words[1:], " "))
		}
	}
	return d
}

func put[V any](in map[string]map[string]V, outer, inner string, value V) {
	if in[outer] == nil {
		in[outer] = map[string]V{}
	}
	in[outer][inner] = value
}

// Has reports whether the description has a field, such as Event.summary.
func (d *Discovery) Has(field string) bool {
	at := strings.LastIndexByte(field, '.')
	return d.fields[field[:max(at, 0)]][field[at+1:]] != ""
}

// Read finds the method of a request and validates its parameters and body. Unknown ones are refused, so that a test
// shows a misspelled name.
func (d *Discovery) Read(r *http.Request) (*Call, *Problem) {
	c := &Call{Query: r.URL.Query()}
	for _, m := range d.methods {
		if c.Path = m.match(r); c.Path != nil {
			c.Method = m
			break
		}
	}
	if c.Path == nil {
		return nil, &Problem{http.StatusNotFound, "global", "notFound", "Not Found", ""}
	}
	for name, values := range c.Query {
		form := d.parameters[c.Name][name]
		if form == nil {
			form = d.parameters["*"][name]
		}
		if form == nil {
			return nil, Invalid(name, "Unknown name %q: Cannot bind query parameter.", name)
		}
		if len(values) > 1 && !slices.Contains(form, "repeated") {
			return nil, Invalid(name, "Parameter %q is repeated.", name)
		}
		for _, value := range values {
			if !fits(form, value) {
				return nil, Invalid(name, "Invalid value %q for parameter %q.", value, name)
			}
		}
	}
	if c.Request == "-" {
		return c, nil
	}
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return nil, Invalid("", "Content type %q is not supported.", kind)
	}
	if json.NewDecoder(r.Body).Decode(&c.Body) != nil {
		return nil, &Problem{http.StatusBadRequest, "global", "parseError", "Parse Error", ""}
	}
	return c, d.check(c.Request, "", c.Body)
}

func (m Method) match(r *http.Request) map[string]string {
	parts := strings.Split(r.URL.EscapedPath(), "/")
	if m.Verb != r.Method || len(parts) != len(m.path) {
		return nil
	}
	found := map[string]string{}
	for i, part := range parts {
		name, variable := strings.CutPrefix(m.path[i], "{")
		value, err := url.PathUnescape(part)
		if err != nil || value == "" && i > 0 || !variable && value != name {
			return nil
		}
		if variable {
			found[strings.TrimSuffix(name, "}")] = value
		}
	}
	return found
}

// fits reports whether a parameter's value has its form, such as integer:int32 >=1.
func fits(form []string, value string) bool {
	if !parses(form[0], value) {
		return false
	}
	n, _ := strconv.Atoi(value)
	for _, limit := range form[1:] {
		switch bound, _ := strconv.Atoi(strings.TrimLeft(limit, "<>=")); {
		case limit == "repeated", limit == "required":
		case limit[0] == '>' && n < bound, limit[0] == '<' && n > bound:
			return false
		case !strings.ContainsAny(limit, "<>") && !slices.Contains(strings.Split(limit, "|"), value):
			return false
		}
	}
	return true
}

func parses(kind, value string) bool {
	var err error
	switch kind {
	case "boolean":
		_, err = strconv.ParseBool(value)
	case "integer:int32":
		_, err = strconv.ParseInt(value, 10, 32)
	case "integer:uint32":
		_, err = strconv.ParseUint(value, 10, 32)
	case "string:uint64":
		_, err = strconv.ParseUint(value, 10, 64)
	case "string:date-time":
		_, err = time.Parse(time.RFC3339, value)
	}
	return err == nil
}

// check validates a JSON value of a type. null is valid everywhere: a patch removes a field with it.
func (d *Discovery) check(kind, at string, value any) *Problem {
	item, list := strings.CutPrefix(kind, "array of ")
	item, free := strings.CutPrefix(item, "map of ")
	wrong := Invalid(at, "Invalid value at %q (%s): %v", at, kind, value)
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		if !list {
			return wrong
		}
		for i, one := range v {
			if p := d.check(item, fmt.Sprintf("%s[%d]", at, i), one); p != nil {
				return p
			}
		}
		return nil
	case map[string]any:
		if d.fields[kind] == nil && !free && kind != "any" {
			return wrong
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			of := item
			if !free && kind != "any" {
				of = d.fields[kind][name]
			}
			if of == "" {
				return Invalid(at+"."+name, "Unknown name %q at %q: Cannot find field.", name, at)
			}
			if p := d.check(of, strings.Trim(at+"."+name, "."), v[name]); p != nil {
				return p
			}
		}
		return nil
	}
	if list || free {
		return wrong
	}
	word, _, _ := strings.Cut(kind, ":")
	ok := kind == "any"
	switch v := value.(type) {
	case string:
		ok = ok || word == "string" && (kind == "string:date-time" || parses(kind, v))
	case bool:
		ok = ok || word == "boolean"
	case float64:
		ok = ok || word == "integer" && v == float64(int64(v))
	}
	if !ok {
		return wrong
	}
	return nil
}

var maskTokens = regexp.MustCompile(`[^(),/]+|[(),/]`)

// mask is a set of fields and their masks; an empty one is everything.
type mask map[string]mask

// Send writes a response, as far as the parameter fields selects it. It refuses a response that is not of the method's
// type.
// https://developers.google.com/workspace/calendar/api/guides/performance#partial-response
func (d *Discovery) Send(w http.ResponseWriter, c *Call, answer any) *Problem {
	var value any
	if data, err := json.Marshal(answer); err != nil || json.Unmarshal(data, &value) != nil {
		panic(err)
	}
	if p := d.check(c.Response, "", value); p != nil {
		return &Problem{http.StatusInternalServerError, "global", "backendError", p.Message, p.Location}
	}
	if text := c.Query.Get("fields"); text != "" {
		fields, rest := readMask(maskTokens.FindAllString(text, -1))
		if len(rest) > 0 || !d.selects(c.Response, fields) {
			said := "Invalid field selection " + text
			return &Problem{http.StatusBadRequest, "global", "invalidParameter", said, "fields"}
		}
		value = fields.of(value)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(value)
	return nil
}

// readMask reads a list such as a,b(c,d/e) up to a closing bracket.
func readMask(tokens []string) (mask, []string) {
	found, at := mask{}, mask(nil)
	var last string
	for at = found; len(tokens) > 0; tokens = tokens[1:] {
		switch tokens[0] {
		case ",":
			at = found
		case "/":
			if at = at[last]; at == nil {
				return found, tokens
			}
		case "(":
			if at[last] == nil {
				return found, tokens
			}
			var inner mask
			inner, tokens = readMask(tokens[1:])
			maps.Copy(at[last], inner)
			if len(tokens) == 0 {
				return found, []string{"("}
			}
		case ")":
			return found, tokens
		default:
			if last = tokens[0]; at[last] == nil {
				at[last] = mask{}
			}
		}
	}
	return found, nil
}

func (d *Discovery) selects(kind string, m mask) bool {
	kind = strings.TrimPrefix(kind, "array of ")
	item, free := strings.CutPrefix(kind, "map of ")
	for name, inner := range m {
		of := d.fields[kind][name]
		if free {
			of = item
		}
		if name != "*" && of == "" || of != "" && !d.selects(of, inner) {
			return false
		}
	}
	return true
}

func (m mask) of(value any) any {
	if len(m) == 0 {
		return value
	}
	switch v := value.(type) {
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = m.of(one)
		}
		return all
	case map[string]any:
		kept := map[string]any{}
		for name, one := range v {
			if inner, ok := m[name]; ok {
				kept[name] = inner.of(one)
			} else if inner, ok = m["*"]; ok {
				kept[name] = inner.of(one)
			}
		}
		return kept
	}
	return value
}
