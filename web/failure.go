package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// statuses maps reasons to HTTP statuses. For visitors, a forbidden page does not exist.
var statuses = map[calendar.Reason]int{
	calendar.NotFound:    http.StatusNotFound,
	calendar.Forbidden:   http.StatusNotFound,
	calendar.Exists:      http.StatusConflict,
	calendar.Invalid:     http.StatusUnprocessableEntity,
	calendar.Internal:    http.StatusInternalServerError,
	calendar.Stale:       http.StatusConflict,
	calendar.TooLarge:    http.StatusRequestEntityTooLarge,
	calendar.Unsupported: http.StatusUnprocessableEntity,
	calendar.Unavailable: http.StatusServiceUnavailable,
}

// explain returns an error's status and text for a person.
func explain(err error) (status int, text string) {
	var tooLarge *http.MaxBytesError
	var throttled *auth.ThrottledError
	switch {
	case errors.As(err, &throttled):
		return http.StatusTooManyRequests, "Too many attempts failed. Wait a moment, then try again."
	case errors.Is(err, auth.ErrUnauthorized):
		return http.StatusUnprocessableEntity, "That did not match. Check what you entered and try again."
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, "That is more than this form takes."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "The server is busy just now. Try again in a moment."
	}
	known, ok := errors.AsType[*calendar.Error](err)
	reason := calendar.ReasonOf(err)
	switch {
	case !ok || reason == calendar.Internal:
		return http.StatusInternalServerError,
			"Something went wrong here. It has been written down for the administrator."
	case reason == calendar.Forbidden:
		return http.StatusNotFound, "There is no such page."
	}
	return statuses[reason], sentence(known.Error())
}

// errMissing is the error for a page that does not exist for this visitor.
func errMissing() error {
	return calendar.Errorf(calendar.NotFound, "", "there is no such page")
}

// sentence turns an error's text into a sentence.
func sentence(text string) string {
	text = sentenceCase(text)
	if strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// sentenceCase capitalizes the first letter.
func sentenceCase(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
