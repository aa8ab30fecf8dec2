package zone

import "strings"

// Suggest finds the IANA name nearest to a user's input: a city alone, or a name with a few wrong letters. It is empty
// if no name is near.
func (db *DB) Suggest(name string) string {
	const longest = 64
	lower := strings.ToLower(clean(name))
	if lower == "" || len(lower) > longest {
		return ""
	}
	known := db.names()
	if found := known.cities[strings.ReplaceAll(lower, "_", " ")]; found != "" {
		return found
	}
	if isAbbreviation(clean(name)) {
		return "" // the nearest abbreviation may be hours away
	}
	best, nearest := "", 2+len(lower)/8
	for _, candidate := range known.listed {
		whole := strings.ToLower(candidate)
		if strings.HasPrefix(whole, "etc/") || !strings.Contains(whole, "/") {
			continue // reversed signs and abbreviations would mislead
		}
		city := whole[strings.LastIndexByte(whole, '/')+1:]
		if d := min(distance(lower, whole, nearest), distance(lower, city, nearest)); d < nearest {
			best, nearest = candidate, d
		}
	}
	return best
}

// distance counts the letters to insert, drop or change to turn a into b. It returns most if it is at least that.
func distance(a, b string, most int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], most)
}
