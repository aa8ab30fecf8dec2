package trace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sampler decides which requests are traced, as OTEL_TRACES_SAMPLER says.
type Sampler struct {
	// share is the fraction of traced requests, from 0 to 1.
	share float64
	// asParent follows the decision of a trusted caller's parent span, if there is one.
	asParent bool
}

// samplers are the known names with their share; -1 means that an argument gives it.
var samplers = map[string]float64{"always_on": 1, "always_off": 0, "traceidratio": -1}

// ParseSampler parses a sampler's name and its argument.
func ParseSampler(word, number string) (Sampler, error) {
	bare, asParent := strings.CutPrefix(word, "parentbased_")
	share, known := samplers[bare]
	if !known {
		return Sampler{},
			fmt.Errorf("%q is not always_on, always_off or traceidratio, nor one of these behind parentbased_", word)
	}
	if share < 0 {
		var err error
		if share, err = strconv.ParseFloat(cmp.Or(number, "1"), 64); err != nil || !(share >= 0 && share <= 1) {
			return Sampler{}, fmt.Errorf("%q is not a number from 0 to 1", number)
		}
	}
	return Sampler{share, asParent}, nil
}

// takes decides by the trace id, so that all programs decide alike.
func (s Sampler) takes(id [16]byte, sampled, known bool) bool {
	if s.asParent && known {
		return sampled
	}
	return s.share >= 1 || float64(binary.BigEndian.Uint64(id[8:])>>1) < s.share*math.MaxInt64
}
