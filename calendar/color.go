package calendar

import (
	"hash/fnv"
	"regexp"
	"strings"
)

// DefaultColor is the colour of calendars that have none.
const DefaultColor = "#0E61B9"

// colors are the defaults for new calendars. White text is readable on each, and all differ visibly from each other
// and from DefaultColor.
var colors = [...]string{
	"#B3261E", "#1E7B34", "#7B3FA0", "#B05A00", "#00796B", "#B0125B", "#5D6A00", "#4A4FC4", "#7A4B2A", "#00708F",
	"#52616B",
}

// colorForm matches the format that Apple's clients send. Apple invented the property; other clients follow.
var colorForm = regexp.MustCompile(`^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$`)

// ParseColor parses a calendar's colour.
func ParseColor(text string) (string, error) {
	color := strings.TrimSpace(text)
	if !colorForm.MatchString(color) {
		return "", Errorf(Invalid, "", "%q is no colour: write #RRGGBB or #RRGGBBAA", text)
	}
	return color, nil
}

// FreshColor returns the colour that the fewest calendars in a user's home have. Ties start at a different colour
// for each user. Otherwise the first calendars of all users would look the same to their sharees.
func FreshColor(user UserID, home []Calendar) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(user))
	used := make(map[string]int)
	for _, cal := range home {
		if cal.Color != nil && len(*cal.Color) >= len(DefaultColor) {
			used[strings.ToUpper((*cal.Color)[:len(DefaultColor)])]++
		}
	}
	first := int(sum.Sum32() % uint32(len(colors)))
	best := colors[first]
	for i := range colors {
		if color := colors[(first+i)%len(colors)]; used[color] < used[best] {
			best = color
		}
	}
	return best
}
