package store

import "math/rand/v2"

// SharingAtRandom has every other change on SQLite commit alone, and the others share a commit with those that wait.
func SharingAtRandom(o Options) Options {
	o.shares = func() bool { return rand.IntN(2) == 0 }
	return o
}
