package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// shutdown is a signal that makes Postgres shut down; see its manual, "Shutting Down the Server".
type shutdown syscall.Signal

const (
	shutdownFast      = shutdown(syscall.SIGINT)  // roll back, disconnect, write a checkpoint
	shutdownImmediate = shutdown(syscall.SIGQUIT) // leave at once, recover at the next start
)

// readyMessage is the start of Postgres' log line when it accepts connections (on a standby, only read-only ones).
// portMessage is in the log when the port is taken.
const (
	readyMessage = "database system is ready to accept "
	portMessage  = "could not create any TCP/IP sockets"
)

// logTail is how many of the last log lines an error shows.
const logTail = 20

var (
	errPortTaken = errors.New("pgtest: the port is taken")
	errExited    = errors.New("pgtest: postgres ended before it was ready")
)

// process is a running postmaster, which ends its own children.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// command prepares a Postgres program to run as the given account, with English messages.
func command(ctx context.Context, runAs *account, dir, program string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	cmd.SysProcAttr = runAs.attributes()
	return cmd
}

// startProcess starts the server and waits until its log says that it is ready.
func startProcess(ctx context.Context, cmd *exec.Cmd) (*process, error) {
	output, input, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	cmd.Stdout, cmd.Stderr = input, input
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(input, started)
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("pgtest: starting postgres: %w", err), output.Close())
	}
	ready := make(chan error, 1)
	go follow(output, ready)
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = fmt.Errorf("pgtest: waiting for postgres: %w", context.Cause(ctx))
	}
	if err != nil {
		return nil, errors.Join(err, p.end(shutdownImmediate))
	}
	return p, nil
}

// run is the life of the process. It keeps its thread: where the kernel ends a child with its parent (attributes), the
// parent is the thread that started the child.
func (p *process) run(input io.Closer, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	err := p.cmd.Start()
	_ = input.Close() // the child has its own end of the pipe; ours would keep the reader waiting
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // the log has the reason; done only says that it has ended
	}
}

// end signals the process and waits until it has gone.
func (p *process) end(how shutdown) error {
	err := p.cmd.Process.Signal(syscall.Signal(how))
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("pgtest: ending postgres: %w", err)
	}
	<-p.done
	return nil
}

// follow reads the log to its end, so that Postgres never blocks on it, and reports once whether it became ready.
func follow(log io.ReadCloser, ready chan<- error) {
	defer log.Close()
	var tail []string
	taken := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		line := lines.Text()
		if strings.Contains(line, readyMessage) && ready != nil {
			ready <- nil
			ready = nil
		}
		taken = taken || strings.Contains(line, portMessage)
		tail = append(tail, line)
		tail = tail[max(0, len(tail)-logTail):]
	}
	if ready != nil {
		ready <- exitError(taken, tail)
	}
}

// exitError explains why a server did not start, with the end of its log.
func exitError(portTaken bool, tail []string) error {
	reason := errExited
	if portTaken {
		reason = errPortTaken
	}
	return fmt.Errorf("%w; its log ends:\n%s", reason, strings.Join(tail, "\n"))
}
