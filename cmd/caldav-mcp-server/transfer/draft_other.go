//go:build !linux

package transfer

// newDraft creates a draft in a directory.
func newDraft(dir string) (draft, error) { return namedDraft(dir) }
