package edit

// Field is what an edit does with one value: nothing, unless it was made by [To] or [Clear].
type Field[T any] struct {
	asked bool
	gone  bool
	value T
}

// To sets a value.
func To[T any](value T) Field[T] { return Field[T]{asked: true, value: value} }

// Clear takes a value away.
func Clear[T any]() Field[T] { return Field[T]{asked: true, gone: true} }

// Left tells that the field stays as it is.
func (f Field[T]) Left() bool { return !f.asked }

// Value is what [To] was given; false when there is none.
func (f Field[T]) Value() (T, bool) { return f.value, f.asked && !f.gone }

// Cleared tells that the field was made by [Clear].
func (f Field[T]) Cleared() bool { return f.gone }
