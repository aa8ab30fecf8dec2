package console

import (
	"context"
	"testing"
)

// Ctrl-C ends a prompt, although reading a terminal cannot be interrupted (clients F9).
func TestPromptEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	asked, never := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(never) })
	go func() {
		<-asked
		interrupt()
	}()
	got, err := answered(ctx, func() (string, error) {
		close(asked)
		<-never
		return "the next line", nil
	})
	if err == nil || got != "" {
		t.Errorf("an interrupted question was answered with %q, %v", got, err)
	}
}
