package console

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	barWidth = 30
	// barPause keeps a slow terminal from slowing down the work.
	barPause = 100 * time.Millisecond
)

// Progress is a progress bar on a terminal. It is nil without a terminal, and then prints nothing.
type Progress struct {
	c     *Console
	drawn time.Time
	// what names the current work, begun is its start; first items were already done then.
	what  string
	begun time.Time
	first int
}

// NewProgress returns a bar if standard error is a terminal.
func (c *Console) NewProgress() *Progress {
	if !c.Watched() {
		return nil
	}
	return &Progress{c: c}
}

// Watched reports whether standard error is a terminal.
func (c *Console) Watched() bool {
	f, ok := c.Stderr.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Show draws the progress.
func (b *Progress) Show(done, total int, what string) {
	if b == nil || total == 0 {
		return
	}
	now := b.c.Now()
	if b.what != what || done < b.first {
		b.what, b.begun, b.first = what, now, done
	}
	if now.Sub(b.drawn) < barPause && done != total {
		return
	}
	b.drawn = now
	b.c.Say("\r\x1b[K%s%s", barText(done, total, what), pace(done-b.first, total-done, now.Sub(b.begun)))
}

// Tell prints the current step, if its duration is unknown.
func (b *Progress) Tell(format string, args ...any) {
	if b != nil {
		b.drawn = b.c.Now()
		b.c.Say("\r\x1b[K%.99s", fmt.Sprintf(format, args...))
	}
}

// pace shows the rate and the remaining time, or nothing at the start.
func pace(done, left int, took time.Duration) string {
	if took < time.Second || done <= 0 {
		return ""
	}
	rate := float64(done) / took.Seconds()
	ends := time.Duration(float64(left) / rate * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("  %.0f/s, %s left", rate, ends)
}

func barText(done, total int, what string) string {
	full := barWidth * min(done, total) / total
	return fmt.Sprintf("[%s%s] %d of %d  %.40s", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), done,
		total, Shown(what))
}

// Clear removes the bar from the screen.
func (b *Progress) Clear() {
	if b != nil && !b.drawn.IsZero() {
		b.c.Say("\r\x1b[K")
	}
}
