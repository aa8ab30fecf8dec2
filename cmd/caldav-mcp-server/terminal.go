package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// maxPasswordLine bounds what is read of standard input.
const maxPasswordLine = 4096

// newPassword gets a password: the first line of standard input, or what a person types twice
// without its being shown.
func (p *program) newPassword(fromStdin bool) (string, error) {
	if fromStdin {
		return p.passwordLine()
	}
	if !p.interactive() {
		return "", wrongUsage("there is no terminal to ask for the password at: use --password-stdin")
	}
	first, err := p.askSecret("password: ")
	if err != nil {
		return "", err
	}
	again, err := p.askSecret("again: ")
	if err != nil {
		return "", err
	}
	if first != again {
		return "", errors.New("the two passwords differ")
	}
	return first, nil
}

// oldPassword gets a password that exists: it is asked for once.
func (p *program) oldPassword(fromStdin bool, prompt string) (string, error) {
	if fromStdin {
		return p.passwordLine()
	}
	if !p.interactive() {
		return "", wrongUsage("there is no terminal to ask for the password at: use --password-stdin")
	}
	return p.askSecret(prompt)
}

func (p *program) passwordLine() (string, error) {
	line, err := bufio.NewReader(io.LimitReader(p.stdin, maxPasswordLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the password: %w", err)
	}
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if line == "" {
		return "", errors.New("there is no password on standard input")
	}
	return line, nil
}

func (p *program) interactive() bool {
	return term.IsTerminal(int(p.stdin.Fd()))
}

func (p *program) askSecret(prompt string) (string, error) {
	p.say("%s", prompt)
	secret, err := term.ReadPassword(int(p.stdin.Fd()))
	p.say("\n")
	if err != nil {
		return "", fmt.Errorf("reading the password: %w", err)
	}
	return string(secret), nil
}

// confirm asks a person to type a word before something that cannot be taken back.
func (p *program) confirm(question, word string) error {
	if !p.interactive() {
		return wrongUsage("there is no terminal to ask at: use --yes if you are sure")
	}
	p.say("%s\ntype %q to go on: ", question, word)
	answer, err := bufio.NewReader(io.LimitReader(p.stdin, maxPasswordLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if strings.TrimSpace(answer) != word {
		return errors.New("nothing was done")
	}
	return nil
}
