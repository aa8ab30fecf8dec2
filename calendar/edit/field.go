package edit

// Field is the change of one value: none, unless it was made with [To] or [Clear].
type Field[T any] struct {
	asked bool
	gone  bool
	value T
}

// To sets a value.
func To[T any](value T) Field[T] { return Field[T]{asked: true, value: value} }

// Clear removes a value.
func Clear[T any]() Field[T] { return Field[T]{asked: true, gone: true} }

// Left reports whether the field stays unchanged.
func (f Field[T]) Left() bool { return !f.asked }

// Value returns the argument of [To], or false if there is none.
func (f Field[T]) Value() (T, bool) { return f.value, f.asked && !f.gone }

// Cleared reports whether the field was made with [Clear].
func (f Field[T]) Cleared() bool { return f.gone }
