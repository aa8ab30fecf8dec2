package calendar

import "testing"

// TestImageIsOfOneState: the same numbers may name another state after a backup was restored, or
// when what is derived was made anew.
func TestImageIsOfOneState(t *testing.T) {
	t.Parallel()
	m := newImage(Calendar{Epoch: "first", Edition: 3}, nil, 7)
	for name, test := range map[string]struct {
		of   Calendar
		want bool
	}{
		"the same":          {Calendar{Epoch: "first", Edition: 3, Version: 7}, true},
		"an earlier look":   {Calendar{Epoch: "first", Edition: 3, Version: 6}, true},
		"something changed": {Calendar{Epoch: "first", Edition: 3, Version: 8}, false},
		"another life":      {Calendar{Epoch: "second", Edition: 3, Version: 7}, false},
		"another edition":   {Calendar{Epoch: "first", Edition: 4, Version: 7}, false},
	} {
		if got := m.shows(test.of); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if (*image)(nil).shows(Calendar{}) {
		t.Error("no image shows a calendar")
	}
}
