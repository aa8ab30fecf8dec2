package db

import "sync"

// # When a kept answer holds
//
// Reading one row costs a quarter of a small request. Kept repeats an answer of a SQLite file without reading the file:
//
//  1. The state of the file is read before the query runs. So the answer is of this state or of a later one.
//  2. The answer is repeated only while the state, read again each time, is the same. Then nothing was committed since
//     1, by this process or another one, and the query would return the same.
//  3. A commit changes the state before it returns, in every process. See fileState.
//  4. If the state is unknown, as on Postgres, the query runs.
//
// So a right that was taken away is gone for every request that begins after the commit, as if the query ran. The
// queries must depend on nothing but the file: neither on the clock nor on chance.

// mostKept is the most answers that are kept.
const mostKept = 1024

// Kept keeps answers to queries. All are of one state of the file.
type Kept[K comparable, V any] struct {
	mu      sync.Mutex
	state   fileState
	answers map[K]V
}

// Of returns the answer of ask for a key, or the kept one if it holds.
func (k *Kept[K, V]) Of(d *DB, key K, ask func() (V, error)) (V, error) {
	state, known := d.state()
	if !known {
		return ask()
	}
	if answer, kept := k.get(state, key); kept {
		return answer, nil
	}
	answer, err := ask()
	if err == nil {
		k.keep(state, key, answer)
	}
	return answer, err
}

func (k *Kept[K, V]) get(state fileState, key K) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state != state {
		var none V
		return none, false
	}
	answer, kept := k.answers[key]
	return answer, kept
}

func (k *Kept[K, V]) keep(state fileState, key K, answer V) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state != state || len(k.answers) >= mostKept {
		k.state, k.answers = state, map[K]V{}
	}
	k.answers[key] = answer
}

// fileState identifies the content of a SQLite file. It is the header of the index of the write-ahead log, in the file
// -shm (https://sqlite.org/walformat.html), which SQLite itself compares at the start of each read transaction to find
// out whether its page cache is current. It counts commits, and has a checksum of the log.
type fileState [48]byte

// initialized is the offset of the byte that is 1 once the header is written.
const initialized = 12

// stateOf returns the state that an index shows. It has two copies of the header. A commit writes the second one first,
// so when it returns it has written both. If they differ, a commit is writing them.
func stateOf(index []byte) (fileState, bool) {
	const size = len(fileState{})
	first, second := fileState(index), fileState(index[size:])
	return first, first == second && first[initialized] == 1
}

// unknownState makes every query run.
func unknownState() (fileState, bool) { return fileState{}, false }
