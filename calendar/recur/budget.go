package recur

import "caldav-mcp-server/calendar/recur/rule"

// Budget bounds an expansion. A step looks at one period or one moment of a rule.
type Budget struct {
	Steps     int
	Instances int
}

// DefaultBudget is enough for any series that people make, and spent within
// some hundredths of a second.
func DefaultBudget() Budget { return Budget{Steps: 500_000, Instances: 10_000} }

// ErrBudget is what every [BudgetError] is.
var ErrBudget = rule.ErrBudget

// ErrUnsupported is what the error about a rule wraps that was understood, but
// cannot be expanded: one with an RSCALE.
var ErrUnsupported = rule.ErrUnsupported

// BudgetError tells what an expansion needed more of.
type BudgetError = rule.BudgetError
