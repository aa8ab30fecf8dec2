package rule

import (
	"math/bits"

	"caldav-mcp-server/ical"
)

// clock is a set of times of day: the product of a set of hours, a set of minutes and a set of seconds.
type clock struct {
	hours, minutes, seconds dial
}

// dial is a set of numbers below 64, as bits.
type dial uint64

const (
	allHours   dial = 1<<24 - 1
	allMinutes dial = 1<<60 - 1
)

// newClock implements the table of RFC 5545 §3.3.10 for BYHOUR, BYMINUTE and BYSECOND. A part for a unit longer than
// FREQ limits, a part for a shorter unit expands, and a missing part is taken from the start.
func newClock(r *ical.Recur, start ical.Time) clock {
	if start.IsDate() {
		// RFC 5545 §3.3.10: the three parts MUST be ignored if DTSTART is a DATE.
		return clock{hours: 1, minutes: 1, seconds: 1}
	}
	part := func(values []int, limits bool, all dial, own int) dial {
		switch {
		case len(values) > 0:
			// We have no leap seconds, so BYSECOND=60 never matches.
			return dialOf(values) & all
		case limits:
			return all
		default:
			return 1 << own
		}
	}
	c := start.Civil
	return clock{
		hours:   part(r.ByHour, r.Freq <= ical.Hourly, allHours, c.Hour),
		minutes: part(r.ByMinute, r.Freq <= ical.Minutely, allMinutes, c.Minute),
		seconds: part(r.BySecond, r.Freq <= ical.Secondly, allMinutes, c.Second),
	}
}

func dialOf(values []int) dial {
	var d dial
	for _, value := range values {
		d |= 1 << value
	}
	return d
}

func (c clock) empty() bool { return c.hours == 0 || c.minutes == 0 || c.seconds == 0 }

// free reports whether the times of day reject no period of this frequency.
func (c clock) free(freq ical.Frequency) bool {
	return (freq > ical.Hourly || c.hours == allHours) &&
		(freq > ical.Minutely || c.minutes == allMinutes) &&
		(freq > ical.Secondly || c.seconds == allMinutes)
}

// dials returns the sets that limit the periods of a frequency, the longest unit first.
func (c clock) dials(freq ical.Frequency) (set [3]dial, n int) {
	return [3]dial{c.hours, c.minutes, c.seconds}, 1 + int(ical.Hourly) - int(freq)
}

// next returns the first period of the day, from at on, that the clock accepts, for a sub-daily frequency. It returns
// the number of periods in a day if there is none.
func (c clock) next(freq ical.Frequency, at int64) int64 {
	set, n := c.dials(freq)
	radix := [3]int64{24, 60, 60}
	var digit [3]int
	perDay := int64(1)
	for i := n - 1; i >= 0; i-- {
		digit[i] = int(at % radix[i])
		at /= radix[i]
		perDay *= radix[i]
	}
	if at > 0 || !turn(set[:n], digit[:n]) {
		return perDay
	}
	at = 0
	for i := range n {
		at = at*radix[i] + int64(digit[i])
	}
	return at
}

// turn moves the digits forward to the next ones on their dials and reports whether there are any.
func turn(set []dial, digit []int) bool {
	for i := range set {
		found, ok := set[i].from(digit[i])
		if ok && found == digit[i] {
			continue
		}
		for !ok {
			if i--; i < 0 {
				return false
			}
			found, ok = set[i].from(digit[i] + 1)
		}
		digit[i] = found
		for i++; i < len(set); i++ {
			digit[i], _ = set[i].from(0)
		}
		return true
	}
	return true
}

// at narrows the clock to one period of the day.
func (c clock) at(freq ical.Frequency, period int64) clock {
	_, n := c.dials(freq)
	if n == 0 {
		return c
	}
	if n > 2 {
		c.seconds = 1 << (period % 60)
		period /= 60
	}
	if n > 1 {
		c.minutes = 1 << (period % 60)
		period /= 60
	}
	c.hours = 1 << period
	return c
}

// size counts the times of day.
func (c clock) size() int64 {
	return int64(c.hours.size() * c.minutes.size() * c.seconds.size())
}

// time returns the n-th time of day, in seconds since midnight.
func (c clock) time(n int64) int64 {
	seconds := int64(c.seconds.size())
	minutes := int64(c.minutes.size())
	hour := c.hours.nth(int(n / seconds / minutes))
	minute := c.minutes.nth(int(n / seconds % minutes))
	return int64(hour*60+minute)*60 + int64(c.seconds.nth(int(n%seconds)))
}

// rank counts the times of day before a second of the day.
func (c clock) rank(second int64) int64 {
	h, m, s := int(second/secondsPerHour), int(second/60%60), int(second%60)
	n := int64(c.hours.below(h) * c.minutes.size() * c.seconds.size())
	if !c.hours.has(h) {
		return n
	}
	n += int64(c.minutes.below(m) * c.seconds.size())
	if !c.minutes.has(m) {
		return n
	}
	return n + int64(c.seconds.below(s))
}

func (d dial) size() int       { return bits.OnesCount64(uint64(d)) }
func (d dial) has(n int) bool  { return d>>n&1 != 0 }
func (d dial) below(n int) int { return (d & (1<<n - 1)).size() }

// from returns the first number of the set that is not below n.
func (d dial) from(n int) (int, bool) {
	rest := uint64(d) >> n << n
	return bits.TrailingZeros64(rest), rest != 0
}

// nth returns the number that has n smaller ones in the set.
func (d dial) nth(n int) int { return nthBit(uint64(d), n) }

// nthBit finds the n-th set bit by halving.
func nthBit(word uint64, n int) int {
	at := 0
	for width := 32; width > 0; width /= 2 {
		low := word & (1<<width - 1)
		if count := bits.OnesCount64(low); n >= count {
			n -= count
			at += width
			word >>= width
		} else {
			word = low
		}
	}
	return at
}
