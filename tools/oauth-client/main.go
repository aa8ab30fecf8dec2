// Command oauth-client is a judge: other projects' clients connect by OAuth, while a real browser clicks through
// sign-in and consent.
package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// trial is the test of one client.
type trial struct {
	name string
	run  func(context.Context, *bench) error
	// needs is a file that must exist, or the client is not installed.
	needs string
}

// trials returns all trials. JavaScript clients are in the directory that NODE_MODULES names.
func (b *bench) trials() []trial {
	node := func(at string) string { return b.modules + "/" + at }
	return []trial{
		{"go-sdk by registration", byRegistration, ""},
		{"go-sdk by description", byDescription, ""},
		{"go-sdk added by hand", byHand, ""},
		{"TypeScript SDK by registration", typescript(false), node("@modelcontextprotocol/sdk")},
		{"TypeScript SDK by description", typescript(true), node("@modelcontextprotocol/sdk")},
		{"mcp-remote by registration", mcpRemote(false), node("mcp-remote")},
		{"mcp-remote by description", mcpRemote(true), node("mcp-remote")},
		{"Inspector by registration", inspectorCommand(false), node("@modelcontextprotocol/inspector")},
		{"Inspector by description", inspectorCommand(true), node("@modelcontextprotocol/inspector")},
		{"Inspector in the browser", inspectorPage, node("@modelcontextprotocol/inspector")},
		{"conformance of an authorization server", conformance, node("@modelcontextprotocol/conformance")},
	}
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: oauth-client URL USER PASSWORD")
		os.Exit(2)
	}
	if err := judge(context.Background(), os.Args[2], os.Args[3]); err != nil {
		fmt.Println("oauth:", err)
		os.Exit(1)
	}
}

func judge(ctx context.Context, user, password string) error {
	b, err := newBench(ctx, user, password)
	if err != nil {
		return err
	}
	defer b.close()
	passed, failed, skipped := 0, 0, 0
	for _, t := range b.trials() {
		if t.needs != "" {
			if _, err := os.Stat(t.needs); err != nil {
				fmt.Println("skipped", t.name)
				skipped++
				continue
			}
		}
		if err := b.try(ctx, t); err != nil {
			fmt.Printf("failed  %s: %v\n", t.name, err)
			failed++
			continue
		}
		fmt.Println("passed ", t.name)
		passed++
	}
	fmt.Printf("oauth: %d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 {
		return fmt.Errorf("the server's log is %s", b.server.log)
	}
	return nil
}

func (b *bench) try(ctx context.Context, t trial) error {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	return t.run(ctx, b)
}
