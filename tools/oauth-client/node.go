package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// node runs a JavaScript program. It reads both output streams by line, and opens the addresses meant for the browser.
type node struct {
	command *exec.Cmd
	in      io.WriteCloser
	lines   chan string
}

func (b *bench) node(ctx context.Context, env []string, args ...string) (*node, error) {
	program := os.Getenv("NODE")
	if program == "" {
		program = "node"
	}
	n := &node{command: exec.CommandContext(ctx, program, args...), lines: make(chan string, 64)}
	n.command.Env = append(os.Environ(),
		append(env, "NODE_EXTRA_CA_CERTS="+filepath.Join(b.work, "host.pem"), "BROWSER=/bin/true")...)
	n.command.Dir = filepath.Dir(b.modules)
	var err error
	if n.in, err = n.command.StdinPipe(); err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	n.command.Stdout, n.command.Stderr = writer, writer
	if err := n.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = writer.CloseWithError(n.command.Wait())
	}()
	go func() {
		defer close(n.lines)
		scanner := bufio.NewScanner(reader)
		scanner.Buffer(nil, 4<<20)
		for scanner.Scan() {
			n.lines <- scanner.Text()
		}
	}()
	return n, nil
}

func (n *node) stop() {
	_ = n.in.Close()
	_ = n.command.Process.Kill()
	for range n.lines {
	}
}

// until reads lines up to one that matches wanted, and returns its first group. An address that matches open is opened
// in the browser.
func (n *node) until(ctx context.Context, b *bench, open, wanted *regexp.Regexp) (string, error) {
	var said []string
	for {
		select {
		case line, more := <-n.lines:
			if !more {
				return "", fmt.Errorf("it ended: %s", strings.Join(said[max(0, len(said)-20):], "\n"))
			}
			said = append(said, line)
			if m := open.FindStringSubmatch(line); m != nil {
				if err := b.browser.allow(m[1]); err != nil {
					return "", err
				}
			}
			if m := wanted.FindStringSubmatch(line); m != nil {
				return m[len(m)-1], nil
			}
		case <-ctx.Done():
			return "", fmt.Errorf("%w: %s", ctx.Err(), strings.Join(said[max(0, len(said)-20):], "\n"))
		}
	}
}

var authorizeURL = regexp.MustCompile(`(http://\S+/oauth/authorize\?\S+)`)

// typescript runs sdk.mjs, which prints its progress.
func typescript(described bool) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		script, err := b.copied("sdk.mjs")
		if err != nil {
			return err
		}
		id, name := "", "TypeScript SDK"
		if described {
			id, name = b.description(), describedName
		}
		n, err := b.node(ctx, nil, script, b.server.mcp, id)
		if err != nil {
			return err
		}
		defer n.stop()
		for _, step := range []string{"connected", "renewed"} {
			if _, err := n.until(ctx, b, authorizeURL, regexp.MustCompile("^"+step+"$")); err != nil {
				return fmt.Errorf("until it is %s: %w", step, err)
			}
		}
		if err := b.browser.revoke(name); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(n.in, "revoked"); err != nil {
			return err
		}
		_, err = n.until(ctx, b, regexp.MustCompile(`^(nothing)\.$`), regexp.MustCompile("^asks again$"))
		return err
	}
}

// copied copies one of our scripts next to the packages, so that it can import them.
func (b *bench) copied(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(os.Getenv("HERE"), name))
	if err != nil {
		return "", err
	}
	to := filepath.Join(filepath.Dir(b.modules), name)
	return to, os.WriteFile(to, data, 0o600)
}

// scenarios are the protocol's conformance tests for authorization servers. Later ones use the results of the first.
var scenarios = [...]string{"authorization-server-metadata-endpoint", "authorization-code-grant"}

// conformance runs them with a client that was added by hand.
func conformance(ctx context.Context, b *bench) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	at := "http://127.0.0.1:" + port + "/callback"
	var added struct{ ID string }
	if err := b.command(ctx, &added, "add-client", "--name", "Conformance", "--redirect", at, "--json"); err != nil {
		return err
	}
	out := filepath.Join(b.work, "conformance")
	n, err := b.node(ctx, nil, filepath.Join(b.modules, "@modelcontextprotocol/conformance/dist/index.js"),
		"authorization",
		"--url", b.server.caldav, "--client-id", added.ID, "--port", port, "-o", out)
	if err != nil {
		return err
	}
	defer n.stop()
	// No line ends the reading; it ends with the program.
	_, ended := n.until(ctx, b, authorizeURL, regexp.MustCompile(`^never$`))
	for _, scenario := range scenarios {
		if err := verdict(filepath.Join(out, "*"+scenario+"*", "checks.json"), ended); err != nil {
			return fmt.Errorf("%s: %w", scenario, err)
		}
	}
	return nil
}

// verdict reads the result file of a scenario.
func verdict(pattern string, ended error) error {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 1 {
		return fmt.Errorf("there is no verdict: %w", ended)
	}
	var checks []struct{ ID, Status, ErrorMessage string }
	data, err := os.ReadFile(files[0])
	if err == nil {
		err = json.Unmarshal(data, &checks)
	}
	if err != nil {
		return err
	}
	passed := 0
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			passed++
		case "INFO":
		default:
			return fmt.Errorf("%s is %s: %s", c.ID, c.Status, c.ErrorMessage)
		}
	}
	if passed == 0 {
		return fmt.Errorf("nothing was checked: %w", ended)
	}
	return nil
}
