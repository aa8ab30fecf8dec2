package dav

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// HrefPath returns the encoded path of an address in a body, which may be a path or a whole URL (RFC 4918 §8.3).
func HrefPath(href string) (string, error) {
	href = strings.TrimSpace(href)
	// Most hrefs are plain paths, which need no decoding.
	if strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "//") && PlainPath(href) {
		return href, nil
	}
	u, err := url.Parse(href)
	if errors.As(err, new(url.EscapeError)) {
		u, err = url.Parse(escapePercent(href))
	}
	if err != nil || u.Opaque != "" {
		return "", Refuse(http.StatusBadRequest, "this href cannot be read")
	}
	return PathOf(u), nil
}

// escapePercent escapes percent signs that do not start an escape: KDE sends decoded paths.
func escapePercent(href string) string {
	parts := strings.Split(href, "%")
	for i, part := range parts[1:] {
		if _, err := url.PathUnescape("%" + part); err != nil {
			parts[i+1] = "25" + part
		}
	}
	return strings.Join(parts, "%")
}

// PlainPath reports whether a path has no escapes and needs none.
func PlainPath[text string | []byte](path text) bool {
	for i := range len(path) {
		if !plainByte[path[i]] {
			return false
		}
	}
	return true
}

// plainByte holds the bytes that url.PathEscape keeps, and the slash.
var plainByte = func() (plain [256]bool) {
	for c := range plain {
		plain[c] = c < utf8.RuneSelf && (c == '/' || url.PathEscape(string(rune(c))) == string(rune(c)))
	}
	return plain
}()

// PathOf returns a path as it was sent. URL.EscapedPath would re-encode a path with unescaped special characters, and
// would take its %2F for a slash.
func PathOf(u *url.URL) string {
	if u.RawPath != "" {
		return u.RawPath
	}
	return u.EscapedPath()
}

// Split cuts a path into decoded segments. It ignores a trailing slash.
func Split(escaped string) ([]string, error) {
	path := strings.TrimSuffix(strings.TrimPrefix(escaped, "/"), "/")
	if path == "" {
		if len(escaped) > 1 {
			return nil, errors.New("it has an empty segment")
		}
		return nil, nil
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		var err error
		if segments[i], err = decode(s); err != nil {
			return nil, err
		}
	}
	return segments, nil
}

// decode decodes one segment. A slash written as %2F is data.
func decode(segment string) (string, error) {
	s, err := segment, error(nil)
	if strings.IndexByte(segment, '%') >= 0 {
		s, err = url.PathUnescape(segment)
	}
	switch {
	case err != nil:
		return "", errors.New("it has a broken percent escape")
	case s == "":
		return "", errors.New("it has an empty segment")
	case s == "." || s == "..":
		return "", fmt.Errorf("it has the segment %q", s)
	case strings.ContainsRune(s, 0):
		return "", errors.New("it has a NUL")
	case !utf8.ValidString(s):
		return "", errors.New("it is not UTF-8")
	}
	return s, nil
}
