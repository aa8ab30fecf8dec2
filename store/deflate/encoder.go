// Package deflate packs texts of some kilobytes, with a dictionary of what they are likely to have, in the format of RFC 1951:
// compress/flate reads what it writes. That package clears and fills 640 KB of tables for a text, however short it is; here 16 KB are copied.
package deflate

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	// hashed is how many bytes a hash is of, and so the fewest that are found again; hashBits makes a table of 16 KB.
	hashed, hashBits = 4, 13
	// farthest is how far back a repetition may be (RFC 1951 §2).
	farthest = 32 << 10
	// enough is how long a repetition is that no longer one is looked for.
	enough = 32
	// nearTries is at how many places a repetition is looked for in the first bytes of a text, most of which the dictionary knows;
	// farTries is at how many behind them.
	nearTries, farTries, near = 16, 3, 2 << 10
	// unlikely is after how many bytes without a repetition, as pictures have them, only each fourth is looked for.
	unlikely = 64
	// atOnce is how many bytes are compared at once. So many are behind a text, lest each place be asked whether they are.
	atOnce = 8
)

// places tells for each hash where it was last, in 16 bits.
type places [1 << hashBits]uint16

// Dictionary is what texts to come are likely to have.
type Dictionary struct {
	words []byte
	last  places
	back  []uint16
}

// NewDictionary makes a dictionary of words. What is likeliest stands at their end.
func NewDictionary(words []byte) *Dictionary {
	e := Encoder{window: words, back: make([]uint16, len(words))}
	for at := range len(words) - hashed + 1 {
		e.note(at)
	}
	return &Dictionary{words: words, last: e.last, back: e.back}
}

// Encoder packs one text after the other. It has 20 KB beside its dictionary, three bytes for each of the longest text, and up to 32 KB for what it
// found in it.
type Encoder struct {
	of *Dictionary
	// window is the dictionary, and the text behind it.
	window []byte
	last   places
	// back is how many bytes before a place its hash was, in 16 bits. What is there may be something else, and is compared.
	back []uint16
	block
}

// NewEncoder makes an encoder, which is for one goroutine at a time.
func (d *Dictionary) NewEncoder() *Encoder {
	return &Encoder{of: d, window: slices.Clone(d.words), back: slices.Clone(d.back)}
}

// Append appends the packed text.
func (e *Encoder) Append(to, text []byte) []byte {
	start := len(e.of.words)
	e.last = e.of.last
	e.window = append(append(e.window[:start], text...), make([]byte, atOnce)...)
	if more := len(e.window) - len(e.back); more > 0 {
		e.back = append(e.back, make([]uint16, more)...)
	}
	e.to = to
	end, missed := start+len(text), 0
	for at := start; at < end; {
		e.note(at)
		var length, distance int
		if missed < unlikely || at%4 == 0 {
			length, distance = e.repeated(at, end)
		}
		if missed++; distance == 0 {
			e.literal(e.window[at])
			at++
			continue
		}
		e.repetition(length, distance)
		for n := 1; n < length; n++ {
			e.note(at + n)
		}
		at, missed = at+length, 0
	}
	return e.finish()
}

// note notes the hash at a place.
func (e *Encoder) note(at int) {
	last := &e.last[e.four(at)*0x9e3779b1>>(32-hashBits)]
	e.back[at], *last = uint16(at)-*last, uint16(at)
}

// repeated looks for what stands at a place that is noted, as long as possible, before it. Distance is 0 where it does not.
func (e *Encoder) repeated(at, end int) (length, distance int) {
	length = hashed - 1
	most, tries := min(longestLength, end-at), nearTries
	if at > len(e.of.words)+near {
		tries = farTries
	}
	last := 0 // where the last four bytes begin of what is longer than length
	four := e.four(at)
	for there := at; tries > 0; tries-- {
		step := int(e.back[there])
		there -= step
		if step == 0 || there < 0 || at-there > farthest {
			break
		}
		if e.four(there+last) != four {
			continue
		}
		if n := e.alike(there, at, most); n > length {
			if length, distance = n, at-there; n >= min(most, enough) {
				break
			}
			last = n + 1 - hashed
			four = e.four(at + last)
		}
	}
	return length, distance
}

func (e *Encoder) four(at int) uint32 { return binary.LittleEndian.Uint32(e.window[at:]) }

// alike is how many bytes at two places are the same, and most at most.
func (e *Encoder) alike(one, other, most int) int {
	for n := 0; n < most; n += atOnce {
		differ := binary.LittleEndian.Uint64(e.window[one+n:]) ^ binary.LittleEndian.Uint64(e.window[other+n:])
		if differ != 0 {
			return min(most, n+bits.TrailingZeros64(differ)/8)
		}
	}
	return most
}
