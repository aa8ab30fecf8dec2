package recur

import "caldav-mcp-server/calendar/recur/rule"

// Budget bounds an expansion. A step examines one period or one moment of a rule.
type Budget struct {
	Steps     int
	Instances int
}

// DefaultBudget is enough for any realistic series, and takes a few hundredths of a second at most.
func DefaultBudget() Budget { return Budget{Steps: 500_000, Instances: 10_000} }

// spent returns the error for more instances than allowed. If a rule ran out of steps before, it returns that error
// instead, because the instances found after that are incomplete.
func (b Budget) spent(meter *rule.Meter) *BudgetError {
	if meter.Spent() > b.Steps {
		return &BudgetError{What: rule.OfSteps, Limit: b.Steps}
	}
	return &BudgetError{What: OfInstances, Limit: b.Instances}
}

// OfInstances is the unit of a [BudgetError] when every instance before the last one is known.
const OfInstances = "instances"

// ErrBudget is the sentinel that every [BudgetError] matches.
var ErrBudget = rule.ErrBudget

// ErrUnsupported is wrapped by the error about a valid rule that cannot be expanded, such as one with an RSCALE.
var ErrUnsupported = rule.ErrUnsupported

// BudgetError names the budget that an expansion exceeded.
type BudgetError = rule.BudgetError
