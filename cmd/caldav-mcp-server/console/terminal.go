package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// maxPasswordLine limits the input that is read.
const maxPasswordLine = 4096

// NewPassword reads a new password: the first line of standard input, or typed twice without echo.
func (c *Console) NewPassword(ctx context.Context, fromStdin bool) (string, error) {
	if fromStdin {
		return c.passwordLine()
	}
	if !c.Interactive() {
		return "", WrongUsage("there is no terminal to ask for the password: use --password-stdin")
	}
	first, err := c.AskSecret(ctx, "password: ")
	if err != nil {
		return "", err
	}
	again, err := c.AskSecret(ctx, "again: ")
	if err != nil {
		return "", err
	}
	if first != again {
		return "", errors.New("the two passwords differ")
	}
	if first == "" {
		return "", errors.New("no password was given")
	}
	return first, nil
}

// OldPassword reads an existing password; it is typed once.
func (c *Console) OldPassword(ctx context.Context, fromStdin bool, prompt string) (string, error) {
	if fromStdin {
		return c.passwordLine()
	}
	if !c.Interactive() {
		return "", WrongUsage("there is no terminal to ask for the password: use --password-stdin")
	}
	return c.AskSecret(ctx, prompt)
}

func (c *Console) passwordLine() (string, error) { return c.SecretLine("password") }

// SecretLine is the first line of standard input.
func (c *Console) SecretLine(what string) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(c.Stdin, maxPasswordLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the %s: %w", what, err)
	}
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if line == "" {
		return "", fmt.Errorf("there is no %s on standard input", what)
	}
	return line, nil
}

// Interactive reports whether standard input is a terminal.
func (c *Console) Interactive() bool {
	return term.IsTerminal(int(c.Stdin.Fd()))
}

// AskSecret reads a secret without echo. It always restores the terminal, even after an interrupt.
func (c *Console) AskSecret(ctx context.Context, prompt string) (string, error) {
	terminal := int(c.Stdin.Fd())
	before, err := term.GetState(terminal)
	if err != nil {
		return "", fmt.Errorf("asking at the terminal: %w", err)
	}
	c.Say("%s", prompt)
	secret, err := answered(ctx, func() (string, error) {
		secret, err := term.ReadPassword(terminal)
		return string(secret), err
	})
	c.Say("\n")
	if err != nil {
		return "", errors.Join(fmt.Errorf("reading the password: %w", err), term.Restore(terminal, before))
	}
	return secret, nil
}

// Confirm asks the user to type a word before an irreversible action.
func (c *Console) Confirm(ctx context.Context, question, word string) error {
	if !c.Interactive() {
		return WrongUsage("there is no terminal to ask for confirmation: use --yes if you are sure")
	}
	c.Say("%s\ntype %q to continue: ", question, word)
	answer, err := answered(ctx, func() (string, error) {
		return bufio.NewReader(io.LimitReader(c.Stdin, maxPasswordLine)).ReadString('\n')
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if strings.TrimSpace(answer) != word {
		return errors.New("nothing was done")
	}
	return nil
}

// answered waits for input until ctx ends. Reading a terminal cannot be interrupted, so the goroutine is abandoned
// until the program exits.
func answered(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	given := make(chan answer, 1)
	go func() {
		text, err := read()
		given <- answer{text, err}
	}()
	select {
	case a := <-given:
		return a.text, a.err
	case <-ctx.Done():
		return "", errors.New("interrupted; nothing was done")
	}
}
