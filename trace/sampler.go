package trace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sampler decides which requests are told, as OTEL_TRACES_SAMPLER says it.
type Sampler struct {
	// share is the part of those that are, from 0 to 1.
	share float64
	// asParent does as a trusted caller did with the request that this one belongs to.
	asParent bool
}

// samplers are the words there are, each with its share where it has no number.
var samplers = map[string]float64{"always_on": 1, "always_off": 0, "traceidratio": -1}

// ParseSampler reads a sampler's word and its number.
func ParseSampler(word, number string) (Sampler, error) {
	bare, asParent := strings.CutPrefix(word, "parentbased_")
	share, known := samplers[bare]
	if !known {
		return Sampler{}, fmt.Errorf("%q is not always_on, always_off or traceidratio, nor one of these behind parentbased_", word)
	}
	if share < 0 {
		var err error
		if share, err = strconv.ParseFloat(cmp.Or(number, "1"), 64); err != nil || !(share >= 0 && share <= 1) {
			return Sampler{}, fmt.Errorf("%q is not a number from 0 to 1", number)
		}
	}
	return Sampler{share, asParent}, nil
}

// takes decides by the number in the trace's id, so that all programs come to the same answer.
func (s Sampler) takes(id [16]byte, sampled, known bool) bool {
	if s.asParent && known {
		return sampled
	}
	return s.share >= 1 || float64(binary.BigEndian.Uint64(id[8:])>>1) < s.share*math.MaxInt64
}
