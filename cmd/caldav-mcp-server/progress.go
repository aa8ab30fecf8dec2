package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	barWidth = 30
	// barPause keeps a slow terminal from slowing the work.
	barPause = 100 * time.Millisecond
)

// progress is a bar on a terminal; where there is none it is nil, and shows nothing.
type progress struct {
	p     *program
	drawn time.Time
	// what is done since begun, when first were done already.
	what  string
	begun time.Time
	first int
}

// newProgress makes a bar if a person watches.
func (p *program) newProgress() *progress {
	if !p.watched() {
		return nil
	}
	return &progress{p: p}
}

// watched tells whether a person sees what the program says.
func (p *program) watched() bool {
	f, ok := p.stderr.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// show draws how far it is.
func (b *progress) show(done, total int, what string) {
	if b == nil || total == 0 {
		return
	}
	now := b.p.now()
	if b.what != what || done < b.first {
		b.what, b.begun, b.first = what, now, done
	}
	if now.Sub(b.drawn) < barPause && done != total {
		return
	}
	b.drawn = now
	b.p.say("\r\x1b[K%s%s", barText(done, total, what), pace(done-b.first, total-done, now.Sub(b.begun)))
}

// tell says what goes on of which nobody knows how long it takes.
func (b *progress) tell(format string, args ...any) {
	if b != nil {
		b.drawn = b.p.now()
		b.p.say("\r\x1b[K%.99s", fmt.Sprintf(format, args...))
	}
}

// pace is how fast it goes, and how long it goes on at that rate; nothing at the beginning, when nobody knows.
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
	return fmt.Sprintf("[%s%s] %d of %d  %.40s", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), done, total, shown(what))
}

// clear takes the bar off the screen.
func (b *progress) clear() {
	if b != nil && !b.drawn.IsZero() {
		b.p.say("\r\x1b[K")
	}
}
