package console

import "fmt"

// Nearest returns the candidate closest to a misspelled word, or "" if none is close.
func Nearest(word string, candidates []string) string {
	best, limit := "", len(word)/3+1
	for _, c := range candidates {
		if d := distance(word, c); d <= limit {
			best, limit = c, d-1
		}
	}
	return best
}

// DidYouMean suggests a word, or returns "" if there is none.
func DidYouMean(prefix, word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s%s?", prefix, word)
}

// distance is the number of letters to change, add, drop or swap to turn a into b (optimal string alignment).
func distance(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

func cost(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
