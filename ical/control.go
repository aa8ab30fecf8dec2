package ical

// keptByte marks the bytes allowed in text: no control characters except tabs and line ends (RFC 5545 §3.1). It keeps
// NUL, because NUL indicates that the text is not UTF-8, and Parse reports that.
var keptByte = func() (kept [256]bool) {
	for c := range kept {
		kept[c] = c == 0 || c == '\n' || c == '\r' || !isControl(rune(c))
	}
	return kept
}()

// WithoutControls removes control characters and the noncharacters U+FFFE and U+FFFF, which XML cannot represent (XML
// 1.0 §2.2). A clean text is returned as is. It works on bytes, since a fold may split a character.
func WithoutControls(text []byte) []byte {
	for i := range text {
		if unfit(text, i) > 0 {
			return dropUnfit(text, i)
		}
	}
	return text
}

// dropUnfit copies a text without the bytes to remove; the first fit bytes are clean.
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

// unfit returns the number of bytes to remove at i.
func unfit(text []byte, i int) int {
	switch c := text[i]; {
	case !keptByte[c]:
		return 1
	case c == 0xEF && i+2 < len(text) && text[i+1] == 0xBF && text[i+2] >= 0xBE:
		return 3
	}
	return 0
}
