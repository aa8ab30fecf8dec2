package ical

// keptByte are the bytes that text in UTF-8 may have: no control characters but tabs and line ends (RFC 5545 §3.1).
// A NUL is among them, for it shows that the text is not in UTF-8, which Parse says.
var keptByte = func() (kept [256]bool) {
	for c := range kept {
		kept[c] = c == 0 || c == '\n' || c == '\r' || !isControl(rune(c))
	}
	return kept
}()

// WithoutControls returns a text without control characters and without the two code points that are no characters
// (U+FFFE, U+FFFF), neither of which XML can say (XML 1.0 §2.2). Most texts have none, and are returned as they are.
// Bytes are looked at, since a fold may cut a character in two.
func WithoutControls(text []byte) []byte {
	for i := range text {
		if unfit(text, i) > 0 {
			return dropUnfit(text, i)
		}
	}
	return text
}

// dropUnfit copies a text of which the first bytes are fit.
func dropUnfit(text []byte, fit int) []byte {
	clean := append(make([]byte, 0, len(text)), text[:fit]...)
	for i := fit; i < len(text); {
		if n := unfit(text, i); n > 0 {
			i += n
			continue
		}
		clean = append(clean, text[i])
		i++
	}
	return clean
}

// unfit tells how many bytes from i on are to go.
func unfit(text []byte, i int) int {
	switch c := text[i]; {
	case !keptByte[c]:
		return 1
	case c == 0xEF && i+2 < len(text) && text[i+1] == 0xBF && text[i+2] >= 0xBE:
		return 3
	}
	return 0
}
