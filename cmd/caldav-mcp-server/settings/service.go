package settings

import (
	"slices"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Service holds the settings of the service as a whole. They are in the store, so that commands and all servers
// use the same values.
type Service struct {
	calendar.Policy
	// JournalDays is JOURNAL_DAYS.
	JournalDays int
	// LineDays is JOURNAL_LINE_DAYS.
	LineDays int
	// CreateUsers is OIDC_CREATE_USERS.
	CreateUsers bool
	// NewUsers are the settings NEW_USER_….
	NewUsers auth.Defaults
}

// ServiceRows are the settings that are in the store.
func ServiceRows() []Setting {
	return slices.DeleteFunc(All(nil), func(s Setting) bool { return s.Groups&ServiceGroup == 0 })
}
