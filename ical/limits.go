package ical

// Limits bound the input of [Parse]. A zero field means no limit, with one exception: components never nest deeper than
// a thousand, because code that walks a tree recurses.
type Limits struct {
	Bytes      int // of the whole text
	LineBytes  int // of one content line, unfolded
	Lines      int // physical lines of the whole text
	Depth      int // components in components; 1 allows no sub-component
	Properties int // of the whole text
}

const depthCeiling = 1000

// DefaultLimits suit one calendar object from a client: generous for people, with room for an inline attachment, yet
// small for a server's memory.
func DefaultLimits() Limits {
	return Limits{
		Bytes:      10 << 20,
		LineBytes:  8 << 20,
		Lines:      250_000,
		Depth:      16,
		Properties: 50_000,
	}
}

func (l Limits) depth() int {
	if l.Depth <= 0 || l.Depth > depthCeiling {
		return depthCeiling
	}
	return l.Depth
}

func exceeds(n, limit int) bool { return limit > 0 && n > limit }
