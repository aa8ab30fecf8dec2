package main

import (
	"slices"

	"caldav-mcp-server/calendar"
)

// serviceConfig holds the settings of the service as a whole. They are in the store, so that commands and all servers
// use the same values.
type serviceConfig struct {
	calendar.Policy
	// journalDays is JOURNAL_DAYS.
	journalDays int
	// lineDays is JOURNAL_LINE_DAYS.
	lineDays int
	// createUsers is OIDC_CREATE_USERS.
	createUsers bool
}

// serviceRows are the settings that are in the store.
func serviceRows() []setting {
	return slices.DeleteFunc(settings(nil), func(s setting) bool { return s.groups&serviceSettings == 0 })
}
