package deflate

import "math/bits"

const (
	// endOfBlock follows the 256 bytes, and the lengths of repetitions follow it.
	endOfBlock = 256
	// literalSymbols and distanceSymbols are how many there are (RFC 1951 §3.2.5). The fixed code knows two more, which nobody writes.
	literalSymbols, distanceSymbols = 288, 30
	// shortestLength and longestLength are those of repetitions.
	shortestLength, longestLength = 3, 258
	// longestCode is RFC 1951's, of which a block with blockTokens needs 14.
	longestCode = 15
)

// lengthSymbol is the symbol of a repetition's length, less the shortest, and how many of its lowest bits follow.
func lengthSymbol(length int) (symbol int, more uint) {
	if length == longestLength-shortestLength {
		return 285, 0
	}
	more = uint(max(0, bits.Len(uint(length))-3))
	return endOfBlock + 1 + int(more)<<2 + length>>more, more
}

// distanceSymbol is the same of a distance, less 1.
func distanceSymbol(distance int) (symbol int, more uint) {
	more = uint(max(0, bits.Len(uint(distance))-2))
	return int(more)<<1 + distance>>more, more
}

// code is what is written for a symbol, and how many bits that are. None is the code of a symbol that a block does not have.
type code struct {
	bits   uint16
	length uint8
}

// codes are those of a block.
type codes struct {
	literals  [literalSymbols]code
	distances [distanceSymbols]code
}

// counts is how often a block has each symbol.
type counts struct {
	literals  [literalSymbols]uint16
	distances [distanceSymbols]uint16
}

// bits is how many bits the symbols take. What follows them takes as many with any codes.
func (n *counts) bits(c *codes) (sum int) {
	for symbol, n := range n.literals {
		sum += int(n) * int(c.literals[symbol].length)
	}
	for symbol, n := range n.distances {
		sum += int(n) * int(c.distances[symbol].length)
	}
	return sum
}

// make makes the codes that suit the counts.
func (c *codes) make(n *counts) {
	measure(c.literals[:], n.literals[:])
	measure(c.distances[:], n.distances[:])
	number(c.literals[:])
	number(c.distances[:])
}

// measure gives each code its length: as many bits as its symbol's share has, rounded up, and what that leaves free to those for whom it was
// rounded up most. That takes some half of a percent more than Huffman's lengths do, and neither a tree nor an order.
func measure(codes []code, counts []uint16) {
	var used [literalSymbols]uint16
	total, n := 0, 0
	for symbol, count := range counts {
		codes[symbol] = code{}
		if count > 0 {
			used[n] = uint16(symbol)
			total, n = total+int(count), n+1
		}
	}
	free := 1 << longestCode
	for _, symbol := range used[:n] {
		length := max(1, bits.Len(uint((total-1)/int(counts[symbol]))))
		codes[symbol].length = uint8(length)
		free -= 1 << (longestCode - length)
	}
	if n < 2 {
		return // one symbol has one bit, half of which is free
	}
	// A code must have nothing free: the shares are lowered until all is given away.
	for eighths := 15; free > 0; eighths-- {
		for _, symbol := range used[:n] {
			length := codes[symbol].length
			if takes := 1 << (longestCode - length); takes <= free && length > 1 && int(counts[symbol])<<(length+3) >= total*eighths {
				codes[symbol].length--
				free -= takes
			}
		}
	}
}

// number gives codes of known lengths their bits (RFC 1951 §3.2.2), which are written from the highest on.
func number(codes []code) {
	var of, next [longestCode + 1]uint16
	for _, c := range codes {
		of[c.length]++
	}
	of[0] = 0
	for length := 1; length < len(next); length++ {
		next[length] = (next[length-1] + of[length-1]) << 1
	}
	for symbol := range codes {
		if c := &codes[symbol]; c.length > 0 {
			c.bits = bits.Reverse16(next[c.length]) >> (16 - c.length)
			next[c.length]++
		}
	}
}

// fixedCodes are known to both sides (RFC 1951 §3.2.6).
var fixedCodes = func() (c codes) {
	for symbol := range c.literals {
		c.literals[symbol].length = 8
	}
	for symbol := 144; symbol < endOfBlock; symbol++ {
		c.literals[symbol].length = 9
	}
	for symbol := endOfBlock; symbol < 280; symbol++ {
		c.literals[symbol].length = 7
	}
	for symbol := range c.distances {
		c.distances[symbol].length = 5
	}
	number(c.literals[:])
	number(c.distances[:])
	return c
}()
