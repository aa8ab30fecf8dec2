package db

import "testing"

// TestWordsAreTextOrNone: another type from a driver is an error. Read as NULL, it would give a token access to
// all calendars.
func TestWordsAreTextOrNone(t *testing.T) {
	t.Parallel()
	var got []string
	for value, want := range map[any]int{nil: 0, "": 0, "a b": 2} {
		if err := Words(&got).Scan(value); err != nil || len(got) != want || (got == nil) != (value == nil) {
			t.Errorf("%#v: %#v, %v", value, got, err)
		}
	}
	if err := Words(&got).Scan([]byte("a b")); err == nil {
		t.Errorf("bytes are taken for %#v", got)
	}
}
