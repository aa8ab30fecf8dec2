package web

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"
)

// quietZone is the width of the white margin around a code, in modules (ISO/IEC 18004 §6.3.8).
const quietZone = 4

// qrCode draws a text as an inline QR code. It is black on white in dark mode too: phones read no other.
func qrCode(text, label string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", fmt.Errorf("drawing a QR code: %w", err)
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			run := 0
			for ; code.Black(x+run, y); run++ {
			}
			if run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, run, run)
				x += run
			}
		}
	}
	side := code.Size + 2*quietZone
	//nolint:gosec // The path is of numbers, and the label is escaped.
	return template.HTML(fmt.Sprintf(
		`<svg class="qr" role="img" aria-label="%s" viewBox="0 0 %d %d" width="%d" height="%d"><path fill="#fff" `+
			`d="M0 0h%dv%dH0z"/><path fill="#000" d="%s"/></svg>`,
		template.HTMLEscapeString(label), side, side, 4*side, 4*side, side, side, path.String())), nil
}
