// Command gosdk lists and calls tools with the official Go SDK of MCP, and answers elicitations:
//
//	gosdk URL TOKEN
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := try(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Println("FAIL  Go SDK ", err)
		os.Exit(1)
	}
	fmt.Println("ok    Go SDK  asks")
}

// bearer adds the token to each request.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func try(ctx context.Context, url, token string) error {
	answer, asked := "decline", []string{}
	client := mcp.NewClient(&mcp.Implementation{Name: "compat", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, r.Params.Message)
			return &mcp.ElicitResult{Action: answer, Content: map[string]any{}}, nil
		},
	})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)},
	}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) < 30 {
		return fmt.Errorf("tools: %+v, %w", tools, err)
	}
	made, err := call(ctx, session, "create_calendar", map[string]any{"name": "Of the Go SDK"})
	if err != nil || made.IsError {
		return fmt.Errorf("create_calendar: %+v, %w", made, err)
	}
	id := made.StructuredContent.(map[string]any)["id"]
	for _, want := range []struct{ answer, says string }{{"decline", "declined"}, {"accept", `"deleted":true`}} {
		answer = want.answer
		said, err := call(ctx, session, "delete_calendar", map[string]any{"calendar_id": id})
		if err != nil {
			return err
		}
		text, _ := json.Marshal(said.Content)
		if !strings.Contains(strings.ReplaceAll(string(text), `\`, ""), want.says) {
			return fmt.Errorf("after %s: %s", answer, text)
		}
	}
	if len(asked) != 2 || !strings.Contains(asked[0], "Of the Go SDK") {
		return errors.New("asked " + strings.Join(asked, "; "))
	}
	return nil
}

func call(ctx context.Context, s *mcp.ClientSession, tool string, args map[string]any) (*mcp.CallToolResult, error) {
	return s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
}
