package dav

import (
	"net/http"
	"strings"
)

// EntityTags reads a list of entity tags. Text that is no tag is kept: nothing equals it, and an unreadable condition
// must fail instead of being ignored.
func EntityTags[T ~string](lines []string) (tags []T, wildcard bool, err error) {
	if len(lines) == 0 {
		return nil, false, nil
	}
	rest := strings.TrimSpace(strings.Join(lines, ","))
	if rest == "*" {
		return nil, true, nil
	}
	for rest = strings.TrimLeft(rest, ", \t"); rest != ""; rest = strings.TrimLeft(rest, ", \t") {
		end := tagEnd(rest)
		tags = append(tags, T(strings.TrimSpace(rest[:end])))
		rest = rest[end:]
	}
	if len(tags) == 0 {
		return nil, false, Refuse(http.StatusBadRequest, "If-Match and If-None-Match take a list of entity tags, or *")
	}
	return tags, false, nil
}

// tagEnd returns the end of the first entity tag in a list. A quoted tag may contain commas.
func tagEnd(list string) int {
	opaque := strings.TrimPrefix(list, "W/")
	if strings.HasPrefix(opaque, `"`) {
		if i := strings.IndexByte(opaque[1:], '"'); i >= 0 {
			return len(list) - len(opaque) + i + 2
		}
	}
	if i := strings.IndexByte(list, ','); i >= 0 {
		return i
	}
	return len(list)
}
