package zone

import (
	"encoding/binary"
	"strings"

	"caldav-mcp-server/ical"
)

// change is the instant when an observance begins.
type change struct {
	at int64
	to *observance
}

// kind is a local time type of RFC 9636.
type kind struct {
	offset       ical.UTCOffset
	daylight     bool
	abbreviation string
}

// compile writes changes in the format of RFC 9636 (version 2), which the standard library reads. The first kind is the
// offset before all changes.
func compile(changes []change, footer string) []byte {
	kinds := []kind{{offset: changes[0].to.from, abbreviation: abbreviation("", changes[0].to.from)}}
	index := map[kind]byte{}
	var times, indices []byte
	for i, c := range changes {
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue // the later observance wins
		}
		k := c.to.kind()
		if _, ok := index[k]; !ok {
			index[k] = byte(len(kinds))
			kinds = append(kinds, k)
		}
		times = binary.BigEndian.AppendUint64(times, uint64(c.at))
		indices = append(indices, index[k])
	}
	types, letters := writeKinds(kinds)

	file := header(0, 1, 1)
	file = append(file, 0, 0, 0, 0, 0, 0, 0)
	file = append(file, header(len(indices), len(kinds), len(letters))...)
	file = append(file, times...)
	file = append(file, indices...)
	file = append(file, types...)
	file = append(file, letters...)
	return append(file, "\n"+footer+"\n"...)
}

func header(times, kinds, letters int) []byte {
	file := append([]byte("TZif2"), make([]byte, 15)...)
	for _, count := range []int{0, 0, 0, times, kinds, letters} {
		file = binary.BigEndian.AppendUint32(file, uint32(count))
	}
	return file
}

func writeKinds(kinds []kind) (types, letters []byte) {
	at := map[string]int{}
	for _, k := range kinds {
		// The index is one byte. An abbreviation that no longer fits gets the first name.
		if _, ok := at[k.abbreviation]; !ok && len(letters)+len(k.abbreviation) < 255 {
			at[k.abbreviation] = len(letters)
			letters = append(letters, k.abbreviation+"\x00"...)
		}
		daylight := byte(0)
		if k.daylight {
			daylight = 1
		}
		types = binary.BigEndian.AppendUint32(types, uint32(int32(k.offset)))
		types = append(types, daylight, byte(at[k.abbreviation]))
	}
	return types, letters
}

func (o *observance) kind() kind {
	return kind{offset: o.to, daylight: o.daylight, abbreviation: abbreviation(o.name, o.to)}
}

// abbreviation returns a TZNAME if POSIX allows it as an abbreviation, and the offset's hours otherwise.
func abbreviation(name string, offset ical.UTCOffset) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
	if len(name) >= 3 && len(name) <= 6 && strings.Trim(name, letters) == "" {
		return name
	}
	if offset < 0 {
		return "-" + twoDigits(int(-offset)/3600)
	}
	return "+" + twoDigits(int(offset)/3600)
}

func twoDigits(n int) string { return string([]byte{'0' + byte(n/10%10), '0' + byte(n%10)}) }
