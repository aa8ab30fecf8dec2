package graphtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// fullName precedes an extension's name in its id.
const fullName = "Microsoft.OutlookServices.OpenTypeExtension."

// extension reads an open extension. Extensions of events hold primitive values only.
func (s *Server) extension(sent any) (Event, error) {
	x, _ := sent.(map[string]any)
	name, _ := x["extensionName"].(string)
	if x["@odata.type"] != "microsoft.graph.openTypeExtension" || name == "" {
		return nil, no(http.StatusBadRequest, "ErrorInvalidRequest",
			"An open extension needs @odata.type and extensionName.")
	}
	made := Event{"@odata.type": "#microsoft.graph.openTypeExtension", "id": fullName + name}
	for field, value := range x {
		switch value.(type) {
		case []any, map[string]any:
			return nil, no(http.StatusBadRequest, "RequestBodyRead", field+" is not a primitive value.")
		}
		if field != "@odata.type" && value != nil {
			made[field] = value
		}
	}
	return made, nil
}

// attach stores an extension. It is a change of the event.
func (s *Server) attach(id string, x Event) {
	kept := maps.Clone(s.extensions[id])
	if kept == nil {
		kept = map[string]Event{}
	}
	kept[fmt.Sprint(x["extensionName"])] = x
	s.extensions[id] = kept
}

func (s *Server) extend(r *http.Request) (any, error) {
	e, err := s.found(r)
	if err != nil {
		return nil, err
	}
	x, err := s.sentExtension(r)
	if err != nil {
		return nil, err
	}
	id := fmt.Sprint(e["id"])
	if s.extensions[id][fmt.Sprint(x["extensionName"])] != nil {
		return nil, no(http.StatusConflict, "ErrorItemSave", "The extension exists.")
	}
	s.attach(id, x)
	s.put(e)
	s.Took(r.Method, id, x)
	return x, nil
}

func (s *Server) sentExtension(r *http.Request) (Event, error) {
	var sent any
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		return nil, no(http.StatusBadRequest, "BadRequest", "Unable to read JSON request payload.")
	}
	return s.extension(sent)
}

// replace replaces an extension: properties that are not sent are deleted.
func (s *Server) replace(r *http.Request) (any, error) {
	e, err := s.found(r)
	if err != nil {
		return nil, err
	}
	id, name := fmt.Sprint(e["id"]), strings.TrimPrefix(r.PathValue("extension"), fullName)
	if s.extensions[id][name] == nil {
		return nil, errNotFound
	}
	x, err := s.sentExtension(r)
	if err != nil {
		return nil, err
	}
	s.attach(id, x)
	s.put(e)
	s.Took(r.Method, id, x)
	return x, nil
}

func (s *Server) detach(r *http.Request) (any, error) {
	e, err := s.found(r)
	if err != nil {
		return nil, err
	}
	id, name := fmt.Sprint(e["id"]), strings.TrimPrefix(r.PathValue("extension"), fullName)
	if s.extensions[id][name] == nil {
		return nil, errNotFound
	}
	kept := maps.Clone(s.extensions[id])
	delete(kept, name)
	s.extensions[id] = kept
	s.put(e)
	s.Took(r.Method, id, nil)
	return nil, nil // a deletion has no response body
}

// Extend writes an open extension of an event, as another program does.
func (s *Server) Extend(id string, x Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attach(id, x)
}

// Extensions returns the open extensions of an event by name.
func (s *Server) Extensions(id string) map[string]Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.extensions[id])
}

// expanded returns an event in the form that a request asks for: the fields of $select, or all fields that
// Graph returns without it, and the navigation properties of $expand.
func (s *Server) expanded(r *http.Request, from Event) (Event, error) {
	q := r.URL.Query()
	e := maps.Clone(from)
	if chosen := q.Get("$select"); chosen != "" {
		names := strings.Split(chosen, ",")
		for _, name := range names {
			if !s.fields["event."+name] && !s.fields["outlookItem."+name] && name != "id" {
				return nil, no(http.StatusBadRequest, "RequestBroker--ParseUri", "No property is named "+name)
			}
		}
		maps.DeleteFunc(e, func(name string, _ any) bool {
			return name != "id" && name != "@odata.etag" && !slices.Contains(names, name)
		})
	} else {
		delete(e, "cancelledOccurrences")
	}
	for part := range strings.SplitSeq(q.Get("$expand"), ",") {
		name, filtered := strings.CutPrefix(part, "extensions($filter=id eq '")
		name, closed := strings.CutSuffix(name, "')")
		switch {
		case part == "":
		case part == "exceptionOccurrences":
			e[part] = s.exceptionsOf(from["id"])
		case filtered && closed:
			if x := s.extensions[fmt.Sprint(from["id"])][strings.TrimPrefix(name, fullName)]; x != nil {
				e["extensions"] = []any{x}
			}
		default:
			return nil, no(http.StatusBadRequest, "RequestBroker--ParseUri", "Parsing OData Select and Expand failed.")
		}
	}
	return e, nil
}

func (s *Server) exceptionsOf(series any) []any {
	list := []any{}
	for _, id := range slices.Sorted(maps.Keys(s.events)) {
		if other := s.events[id]; other.event["seriesMasterId"] == series && !other.gone {
			list = append(list, other.event)
		}
	}
	return list
}
