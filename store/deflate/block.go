package deflate

import "encoding/binary"

const (
	// blockTokens is how many tokens a block has at most.
	blockTokens = 8 << 10
	// worthCodes is how many bits a block takes with the fixed codes if it may get codes of its own. They take 4 µs to make, and to
	// tell them takes most of what they would save of a shorter block.
	worthCodes = 3000
)

// token is a byte, or a repetition: isRepetition, its length above the distance, both less the least.
type token uint32

const (
	isRepetition  token = 1 << 31
	aboveDistance       = 16
)

func (t token) length() int   { return int(t &^ isRepetition >> aboveDistance) }
func (t token) distance() int { return int(t & (1<<aboveDistance - 1)) }

// block collects tokens and writes them.
type block struct {
	tokens []token
	counts counts
	own    codes
	// to has the bytes that are written; of pending, the lowest bits wait for more.
	to      []byte
	pending uint64
	waiting uint
}

func (b *block) literal(c byte) {
	b.counts.literals[c]++
	b.add(token(c))
}

func (b *block) repetition(length, distance int) {
	t := isRepetition | token(length-shortestLength)<<aboveDistance | token(distance-1)
	length, _ = lengthSymbol(t.length())
	distance, _ = distanceSymbol(t.distance())
	b.counts.literals[length]++
	b.counts.distances[distance]++
	b.add(t)
}

func (b *block) add(t token) {
	if b.tokens = append(b.tokens, t); len(b.tokens) == blockTokens {
		b.write(false)
	}
}

// finish writes the last block.
func (b *block) finish() []byte {
	b.write(true)
	b.bits(0, 7) // what does not fill a byte does
	for ; b.waiting >= 8; b.waiting -= 8 {
		b.to = append(b.to, byte(b.pending))
		b.pending >>= 8
	}
	to := b.to
	b.to, b.pending, b.waiting = nil, 0, 0
	return to
}

// write writes a block (RFC 1951 §3.2.3), with codes of its own where it gets shorter.
func (b *block) write(last bool) {
	var header uint64
	if last {
		header = 1
	}
	b.counts.literals[endOfBlock]++
	used, most := &fixedCodes, b.counts.bits(&fixedCodes)
	if most >= worthCodes {
		b.own.make(&b.counts)
		if r := b.own.runs(); b.counts.bits(&b.own)+r.bits() < most {
			used = &b.own
			b.bits(header|2<<1, 3)
			b.runs(&r)
		}
	}
	if used == &fixedCodes {
		b.bits(header|1<<1, 3)
	}
	for _, t := range b.tokens {
		b.token(t, used)
	}
	b.code(used.literals[endOfBlock], 0, 0)
	b.tokens, b.counts = b.tokens[:0], counts{}
}

func (b *block) token(t token, c *codes) {
	if t&isRepetition == 0 {
		b.code(c.literals[t], 0, 0)
		return
	}
	symbol, more := lengthSymbol(t.length())
	b.code(c.literals[symbol], t.length(), more)
	symbol, more = distanceSymbol(t.distance())
	b.code(c.distances[symbol], t.distance(), more)
}

// runs writes which codes the block has (RFC 1951 §3.2.7).
func (b *block) runs(r *runs) {
	b.bits(uint64(r.literals-endOfBlock-1)|uint64(r.distances-1)<<5|(runSymbols-4)<<10, 14)
	for _, symbol := range runOrder {
		b.bits(uint64(runCodes[symbol].length), 3)
	}
	for _, one := range r.list[:r.n] {
		b.code(runCodes[one.symbol], int(one.more), uint(runMore[one.symbol]))
	}
}

// code writes a code, and as many bits more of a number.
func (b *block) code(c code, number int, more uint) {
	b.bits(uint64(c.bits)|uint64(number)&(1<<more-1)<<c.length, uint(c.length)+more)
}

// bits writes at most 32 bits.
func (b *block) bits(value uint64, n uint) {
	b.pending |= value << b.waiting
	if b.waiting += n; b.waiting >= 32 {
		b.to = binary.LittleEndian.AppendUint32(b.to, uint32(b.pending))
		b.pending >>= 32
		b.waiting -= 32
	}
}
