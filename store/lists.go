package store

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/store/db"
)

// slots is the number of places for a list in a query. A fixed number keeps the prepared statements few; unused
// places repeat the last value.
const slots = 32

// listText is a statement with a list of values after its other arguments: in a number of places, or as one
// argument if the engine has lists.
type listText struct{ slotted, whole string }

// withList builds a statement. It replaces § with the list, whose arguments start at $first.
func withList(first int, text string) listText {
	places := make([]string, slots)
	for i := range places {
		places[i] = "$" + strconv.Itoa(first+i)
	}
	in := func(list string) string { return strings.ReplaceAll(text, "§", list) }
	return listText{in(" IN (" + strings.Join(places, ", ") + ") "), in(" = ANY(" + places[0] + "::text[]) ")}
}

// of returns the engine's form of the statement.
func (l listText) of(e *db.Engine) string {
	if e.Lists {
		return l.whole
	}
	return l.slotted
}

// inLists yields values as arguments for a listText.
func inLists[T ~string](e *db.Engine, values []T) iter.Seq[[]any] {
	if !e.Lists {
		return inSlots(values)
	}
	return func(yield func([]any) bool) {
		list := make([]string, len(values))
		for i, v := range values {
			list[i] = string(v)
		}
		if len(list) > 0 {
			yield([]any{list})
		}
	}
}

// inSlots yields values as arguments for the places.
func inSlots[T ~string](values []T) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for some := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(values))), slots) {
			args := make([]any, slots)
			for i := range args {
				args[i] = some[min(i, len(some)-1)]
			}
			if !yield(args) {
				return
			}
		}
	}
}

// rowsOfList runs a query for some values, in as many parts as needed.
func rowsOfList[V ~string, T any](
	ctx context.Context, q db.Querier, values []V, scan func(db.Scanner) (T, error), text listText, before ...any,
) ([]T, error) {
	var all []T
	for args := range inLists(q.Of(), values) {
		some, err := db.RowsOf(ctx, q, scan, text.of(q.Of()), append(slices.Clone(before), args...)...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
