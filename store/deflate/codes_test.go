package deflate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// huffman is how many bits the best codes take: each two of the rarest are joined, which gives all of theirs one more.
func huffman(counts []uint16) (sum int) {
	var left, joined []int
	for _, n := range counts {
		if n > 0 {
			left = append(left, int(n))
		}
	}
	slices.Sort(left)
	rarest := func() int {
		from := &left
		if len(left) == 0 || len(joined) > 0 && joined[0] < left[0] {
			from = &joined
		}
		n := (*from)[0]
		*from = (*from)[1:]
		return n
	}
	for len(left)+len(joined) > 1 {
		joined = append(joined, rarest()+rarest())
		sum += joined[len(joined)-1]
	}
	return sum
}

// A code leaves nothing free, or it could not be read, and takes little more than the best.
func TestCodesAreWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	all, allBest := 0, 0
	for round := range 5_000 {
		var counts [literalSymbols]uint16
		var codes [literalSymbols]code
		left, symbols := blockTokens+1, 2+random.IntN(literalSymbols-2)
		for symbol := range symbols {
			n := 1 + random.IntN(1<<random.IntN(14))
			if round%2 == 0 { // each half of what is left, which makes the longest codes
				n = max(1, left/2)
			}
			n = min(n, left-(symbols-symbol-1))
			counts[symbol], left = uint16(n), left-n
		}
		measure(codes[:], counts[:])
		share, bits, best := 0, 0, huffman(counts[:])
		for symbol, n := range counts {
			length := codes[symbol].length
			if n == 0 && length > 0 || n > 0 && (length < 1 || length > longestCode) {
				t.Fatalf("%v: what comes %d times has %d bits", counts, n, length)
			}
			if n > 0 {
				share += 1 << (longestCode - length)
				bits += int(n) * int(length)
			}
		}
		if share != 1<<longestCode || 100*bits > 115*best {
			t.Fatalf("%v: %d of %d are used, and %d bits for %d", counts, share, 1<<longestCode, bits, best)
		}
		all, allBest = all+bits, allBest+best
	}
	if 100*all > 101*allBest {
		t.Errorf("all take %d bits, and the best %d", all, allBest)
	}
}

// One symbol alone has one bit, none has none.
func TestCodesOfFew(t *testing.T) {
	t.Parallel()
	for most, want := range []uint8{0, 1, 1} {
		var counts [distanceSymbols]uint16
		var codes [distanceSymbols]code
		for symbol := range most {
			counts[7+symbol] = 5
		}
		if measure(codes[:], counts[:]); codes[7].length != want || codes[8].length != min(want, uint8(most/2)) {
			t.Errorf("%d symbols have %v", most, codes)
		}
	}
}
