package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
)

// Google returns a client for one of Google's APIs, which share a format for errors.
func Google(base string, ask *http.Client, access func(ctx context.Context, stale string) (string, error)) Client {
	return Client{HTTP: ask, Base: base, Token: access, Read: googleProblem, Busy: googleBusy}
}

// googleProblem parses a Google error.
func googleProblem(body []byte) (reason, message string) {
	var answer struct {
		Error struct {
			Message string `json:"message"`
			Status  string `json:"status"`
			Errors  []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return "", ""
	}
	reason = answer.Error.Status
	if len(answer.Error.Errors) != 0 {
		reason = answer.Error.Errors[0].Reason
	}
	return reason, answer.Error.Message
}

func googleBusy(reason string) bool {
	return slices.Contains([]string{
		"rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "calendarUsageLimitsExceeded",
		"dailyLimitExceeded", "RESOURCE_EXHAUSTED",
	}, reason)
}
