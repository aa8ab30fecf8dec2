package main

import (
	"context"
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/term"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// TestPromptRestoresTheTerminal: a password prompt shows no input; after Ctrl-C the terminal is restored (clients F9).
func TestPromptRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	terminal := openTerminal(t)
	state := func() term.State {
		s, err := term.GetState(int(terminal.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return *s
	}
	before := state()
	ctx, interrupt := context.WithCancel(t.Context())
	p := &program{&console.Console{Stdin: terminal, Stderr: io.Discard}}
	answer := make(chan error)
	go func() {
		_, err := p.AskSecret(ctx, "password: ")
		answer <- err
	}()
	until(t, "what is typed is hidden", func() bool { return state() != before })
	interrupt()
	select {
	case err := <-answer:
		if err == nil {
			t.Error("an interrupted question was answered")
		}
	case <-time.After(patience):
		t.Fatal("Ctrl-C does not end the question")
	}
	if state() != before {
		t.Error("the terminal goes on hiding what is typed")
	}
}

// openTerminal opens a terminal without input.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = control.Close() })
	var number, locked int32
	for request, to := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, control.Fd(), request,
			uintptr(unsafe.Pointer(to))); errno != 0 {
			t.Fatal(errno)
		}
	}
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return terminal
}
