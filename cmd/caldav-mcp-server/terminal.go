package main

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

// newPassword reads a new password: the first line of standard input, or typed twice without echo.
func (c *console) newPassword(ctx context.Context, fromStdin bool) (string, error) {
	if fromStdin {
		return c.passwordLine()
	}
	if !c.interactive() {
		return "", wrongUsage("there is no terminal to ask for the password: use --password-stdin")
	}
	first, err := c.askSecret(ctx, "password: ")
	if err != nil {
		return "", err
	}
	again, err := c.askSecret(ctx, "again: ")
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

// oldPassword reads an existing password; it is typed once.
func (c *console) oldPassword(ctx context.Context, fromStdin bool, prompt string) (string, error) {
	if fromStdin {
		return c.passwordLine()
	}
	if !c.interactive() {
		return "", wrongUsage("there is no terminal to ask for the password: use --password-stdin")
	}
	return c.askSecret(ctx, prompt)
}

func (c *console) passwordLine() (string, error) { return c.secretLine("password") }

// secretLine is the first line of standard input.
func (c *console) secretLine(what string) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(c.stdin, maxPasswordLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the %s: %w", what, err)
	}
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if line == "" {
		return "", fmt.Errorf("there is no %s on standard input", what)
	}
	return line, nil
}

func (c *console) interactive() bool {
	return term.IsTerminal(int(c.stdin.Fd()))
}

// askSecret reads a secret without echo. It always restores the terminal, even after an interrupt.
func (c *console) askSecret(ctx context.Context, prompt string) (string, error) {
	terminal := int(c.stdin.Fd())
	before, err := term.GetState(terminal)
	if err != nil {
		return "", fmt.Errorf("asking at the terminal: %w", err)
	}
	c.say("%s", prompt)
	secret, err := answered(ctx, func() (string, error) {
		secret, err := term.ReadPassword(terminal)
		return string(secret), err
	})
	c.say("\n")
	if err != nil {
		return "", errors.Join(fmt.Errorf("reading the password: %w", err), term.Restore(terminal, before))
	}
	return secret, nil
}

// confirm asks the user to type a word before an irreversible action.
func (c *console) confirm(ctx context.Context, question, word string) error {
	if !c.interactive() {
		return wrongUsage("there is no terminal to ask for confirmation: use --yes if you are sure")
	}
	c.say("%s\ntype %q to continue: ", question, word)
	answer, err := answered(ctx, func() (string, error) {
		return bufio.NewReader(io.LimitReader(c.stdin, maxPasswordLine)).ReadString('\n')
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
