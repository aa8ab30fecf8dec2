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

// spent is the error when there are more instances than allowed. Where a rule gave up before, that is said instead: of what
// was found then, some is missing.
func (b Budget) spent(meter *rule.Meter) *BudgetError {
	if meter.Spent() > b.Steps {
		return &BudgetError{What: rule.OfSteps, Limit: b.Steps}
	}
	return &BudgetError{What: OfInstances, Limit: b.Instances}
}

// OfInstances is what a [BudgetError] needs where every instance before the last one is known.
const OfInstances = "instances"

// ErrBudget is what every [BudgetError] is.
var ErrBudget = rule.ErrBudget

// ErrUnsupported is what the error about a rule wraps that was understood, but
// cannot be expanded: one with an RSCALE.
var ErrUnsupported = rule.ErrUnsupported

// BudgetError tells what an expansion needed more of.
type BudgetError = rule.BudgetError
