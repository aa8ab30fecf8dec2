package rule

import (
	"context"
	"errors"
	"fmt"
)

// ErrBudget is what every [BudgetError] is.
var ErrBudget = errors.New("the recurrence is too expensive")

// BudgetError tells what an expansion was allowed and needed more of.
type BudgetError struct {
	What  string // OfSteps, or of instances
	Limit int
}

// Error says it in one sentence.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("%v: it needs more than %d %s", ErrBudget, e.Limit, e.What)
}

// Is makes the error an [ErrBudget].
func (e *BudgetError) Is(target error) bool { return target == ErrBudget }

// Meter counts the steps of one or several expansions. A step looks at one
// period or one moment and takes some ten nanoseconds. A Meter is for one
// goroutine.
type Meter struct {
	ctx   context.Context // nil for none
	limit int
	spent int
	check int // when to look at the context again
}

// OfSteps is what a [BudgetError] of a [Meter] needs.
const OfSteps = "steps"

// NewMeter allows so many steps, and no more after the context has ended.
func NewMeter(ctx context.Context, steps int) *Meter {
	return &Meter{ctx: ctx, limit: steps}
}

// Steps allows so many steps even if others wait: for work that is over within some
// milliseconds.
func Steps(n int) *Meter { return &Meter{limit: n} }

// contextSteps are so few that a cancelled expansion ends at once.
const contextSteps = 1024

// Step spends some steps.
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

// Spent counts the steps that were made.
func (m *Meter) Spent() int { return m.spent }
