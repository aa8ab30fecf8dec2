package deflate

// The lengths of a block's codes are told as runs: a symbol below these three is one length.
const (
	sameAgain   = 16 // 3 to 6 times
	noneBriefly = 17 // none, 3 to 10 times
	noneLong    = 18 // none, 11 to 138 times
	runSymbols  = 19
)

// runMore is how many bits follow such a symbol, which say how many there are beyond the fewest.
var runMore = [runSymbols]uint8{sameAgain: 2, noneBriefly: 3, noneLong: 7}

// runCodes are the codes of runs. RFC 1951 has a block tell them, too, but they are the same for all, as suits calendar texts.
var runCodes = func() (c [runSymbols]code) {
	for symbol, length := range [runSymbols]uint8{3, 7, 7, 5, 4, 3, 3, 3, 3, 4, 4, 7, 7, 7, 7, 7, 7, 4, 5} {
		c[symbol].length = length
	}
	number(c[:])
	return c
}()

// runOrder is in which order their lengths are told (RFC 1951 §3.2.7).
var runOrder = [runSymbols]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// run is a symbol and the bits that follow it.
type run struct{ symbol, more uint8 }

// runs are what a block tells of its codes.
type runs struct {
	// literals and distances are how many are told: those behind have none.
	literals, distances int
	list                [literalSymbols + distanceSymbols]run
	n                   int
}

// runs are those that tell the codes.
func (c *codes) runs() (r runs) {
	r.literals, r.distances = told(c.literals[:]), max(1, told(c.distances[:]))
	var lengths [literalSymbols + distanceSymbols]uint8
	for symbol := range r.literals {
		lengths[symbol] = c.literals[symbol].length
	}
	for symbol := range r.distances {
		lengths[r.literals+symbol] = c.distances[symbol].length
	}
	for all := lengths[:r.literals+r.distances]; len(all) > 0; {
		n := 1
		for n < len(all) && all[n] == all[0] {
			n++
		}
		r.add(all[0], n)
		all = all[n:]
	}
	return r
}

// told is how many codes there are up to the last that is in use.
func told(codes []code) int {
	n := len(codes)
	for n > 0 && codes[n-1].length == 0 {
		n--
	}
	return n
}

// add adds a length that comes so often.
func (r *runs) add(length uint8, times int) {
	if length > 0 {
		r.one(length, 0)
		times = r.many(sameAgain, 3, 6, times-1)
	} else {
		times = r.many(noneBriefly, 3, 10, r.many(noneLong, 11, 138, times))
	}
	for range times {
		r.one(length, 0)
	}
}

// many adds as many of a symbol as the times allow, and says how many of them are left.
func (r *runs) many(symbol uint8, fewest, most, times int) int {
	for times >= fewest {
		n := min(times, most)
		r.one(symbol, n-fewest)
		times -= n
	}
	return times
}

func (r *runs) one(symbol uint8, more int) {
	r.list[r.n] = run{symbol, uint8(more)}
	r.n++
}

// bits is how many bits the runs take, with the codes that they are told in.
func (r *runs) bits() int {
	sum := 14 + 3*runSymbols
	for _, one := range r.list[:r.n] {
		sum += int(runCodes[one.symbol].length + runMore[one.symbol])
	}
	return sum
}
