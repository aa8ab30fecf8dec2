package admin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/mcp"
)

// coreWord stands for the tools for everyday work.
const coreWord = "core"

// ParseReach parses the flags --scope and --tools.
func ParseReach(tools, scopes string) ([]calendar.ToolName, calendar.Scope, error) {
	reach, err := auth.ParseScopes(scopes)
	if err != nil {
		return nil, 0, fmt.Errorf("--scope: %w", err)
	}
	names, reach, err := parseTools(tools, reach)
	if err != nil {
		return nil, 0, fmt.Errorf("--tools: %w", err)
	}
	return names, reach, nil
}

// parseTools parses a comma-separated list of tools, for a credential with these scopes. "core" stands for several
// tools, and "-search" for all except that one. It returns the tools, and only the scopes that they need.
func parseTools(list string, scopes calendar.Scope) ([]calendar.ToolName, calendar.Scope, error) {
	if list == "" {
		return nil, scopes, nil
	}
	var with, without []mcp.ToolInfo
	named := false
	for word := range strings.SplitSeq(list, ",") {
		name, left := strings.CutPrefix(strings.TrimSpace(word), "-")
		reach := scopes
		if left {
			reach = calendar.ScopeEvery // excluding a tool beyond the scopes is allowed
		}
		tools, err := toolsOf(name, reach)
		if err != nil {
			return nil, 0, err
		}
		if left {
			without = append(without, tools...)
		} else {
			named, with = true, append(with, tools...)
		}
	}
	if !named {
		with = within(mcp.Tools(), scopes)
	}
	var names []calendar.ToolName
	var needed calendar.Scope
	for _, t := range with {
		if !slices.Contains(without, t) {
			names, needed = append(names, t.Name), needed|t.Scope
		}
	}
	if names == nil {
		return nil, 0, errors.New("no tool is left")
	}
	slices.Sort(names)
	return slices.Compact(names), scopes & needed, nil
}

// within returns the tools that a credential with these scopes can use.
func within(tools []mcp.ToolInfo, scopes calendar.Scope) []mcp.ToolInfo {
	return slices.DeleteFunc(tools, func(t mcp.ToolInfo) bool { return t.Scope&^scopes != 0 })
}

// toolsOf returns the tools that a word names.
func toolsOf(word string, scopes calendar.Scope) ([]mcp.ToolInfo, error) {
	all := mcp.Tools()
	if word == coreWord {
		return within(slices.DeleteFunc(all, func(t mcp.ToolInfo) bool { return !t.Core }), scopes), nil
	}
	i := slices.IndexFunc(all, func(t mcp.ToolInfo) bool { return string(t.Name) == word })
	if i < 0 {
		words := append(toolWords(all), coreWord)
		return nil, fmt.Errorf("%.60q is not a tool%s (there are %s)", word,
			console.DidYouMean("", console.Nearest(word, words)), strings.Join(words, ", "))
	}
	if lacks := all[i].Scope &^ scopes; lacks != 0 {
		return nil, fmt.Errorf("%s needs the scope %s, which --scope leaves out", word, auth.ScopeList(lacks))
	}
	return all[i : i+1], nil
}

func toolWords(all []mcp.ToolInfo) []string {
	return console.Each(all, func(t mcp.ToolInfo) string { return string(t.Name) })
}

// toolsText formats the tools of a token for people.
func toolsText(names []calendar.ToolName) string {
	if names == nil {
		return "all"
	}
	core := slices.DeleteFunc(mcp.Tools(), func(t mcp.ToolInfo) bool { return !t.Core })
	if slices.Equal(toolWords(core), console.Each(names, func(n calendar.ToolName) string { return string(n) })) {
		return coreWord
	}
	return strings.Join(console.Each(names, func(n calendar.ToolName) string { return string(n) }), ",")
}
