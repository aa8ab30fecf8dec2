package rule

import (
	"context"
	"errors"
	"fmt"
)

// ErrBudget is the sentinel that every [BudgetError] matches.
var ErrBudget = errors.New("the recurrence is too expensive")

// BudgetError names the budget that an expansion exceeded.
type BudgetError struct {
	What  string // OfSteps, or recur.OfInstances
	Limit int
}

// Error describes the problem in one sentence.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("%v: it needs more than %d %s", ErrBudget, e.Limit, e.What)
}

// Is makes the error match [ErrBudget].
func (e *BudgetError) Is(target error) bool { return target == ErrBudget }

// Meter counts the steps of one or more expansions. A step examines one period or one moment and takes about ten
// nanoseconds. A Meter is not safe for concurrent use.
type Meter struct {
	ctx   context.Context // nil if there is none
	limit int
	spent int
	check int // the step count of the next check of the context
}

// OfSteps is the unit of a [BudgetError] from a [Meter].
const OfSteps = "steps"

// NewMeter allows this many steps, and none after the context has ended.
func NewMeter(ctx context.Context, steps int) *Meter {
	return &Meter{ctx: ctx, limit: steps}
}

// Steps allows this many steps without a context: for work that is done within a few milliseconds.
func Steps(n int) *Meter { return &Meter{limit: n} }

// contextSteps is small enough that a cancelled expansion ends at once.
const contextSteps = 1024

// Step spends n steps.
func (m *Meter) Step(n int) error {
	m.spent += n
	if m.spent > m.limit {
		return &BudgetError{What: OfSteps, Limit: m.limit}
	}
	if m.spent < m.check || m.ctx == nil {
		return nil
	}
	m.check = m.spent + contextSteps
	if err := m.ctx.Err(); err != nil {
		return fmt.Errorf("expand a recurrence: %w", err)
	}
	return nil
}

// Spent returns the number of steps spent.
func (m *Meter) Spent() int { return m.spent }
