package main

import (
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp"
)

// coreWord stands for the tools that everyday work takes.
const coreWord = "core"

// parseTools reads a comma list of tools, of which "core" stands for several, for a credential of
// some scopes. It returns what is left of these when they go no further than the tools need, which
// is nothing where they need none.
func parseTools(list string, scopes calendar.Scope) ([]calendar.ToolName, calendar.Scope, error) {
	if list == "" {
		return nil, scopes, nil
	}
	var names []calendar.ToolName
	var needed calendar.Scope
	for word := range strings.SplitSeq(list, ",") {
		tools, err := toolsOf(strings.TrimSpace(word), scopes)
		if err != nil {
			return nil, 0, err
		}
		for _, t := range tools {
			names, needed = append(names, t.Name), needed|t.Scope
		}
	}
	slices.Sort(names)
	return slices.Compact(names), scopes & needed, nil
}

// toolsOf finds the tools that a word means.
func toolsOf(word string, scopes calendar.Scope) ([]mcp.ToolInfo, error) {
	all := mcp.Tools()
	if word == coreWord {
		return slices.DeleteFunc(all, func(t mcp.ToolInfo) bool { return !t.Core || t.Scope&^scopes != 0 }), nil
	}
	i := slices.IndexFunc(all, func(t mcp.ToolInfo) bool { return string(t.Name) == word })
	if i < 0 {
		words := append(toolWords(all), coreWord)
		return nil, fmt.Errorf("%.60q is no tool%s (there are %s)", word, didYouMean("", nearest(word, words)), strings.Join(words, ", "))
	}
	if lacks := all[i].Scope &^ scopes; lacks != 0 {
		return nil, fmt.Errorf("%s needs the scope %s, which --scope leaves out", word, auth.ScopeList(lacks))
	}
	return all[i : i+1], nil
}

func toolWords(all []mcp.ToolInfo) []string {
	return each(all, func(t mcp.ToolInfo) string { return string(t.Name) })
}

// toolsText writes the tools of a token for people.
func toolsText(names []calendar.ToolName) string {
	if names == nil {
		return "all"
	}
	core := slices.DeleteFunc(mcp.Tools(), func(t mcp.ToolInfo) bool { return !t.Core })
	if slices.Equal(toolWords(core), each(names, func(n calendar.ToolName) string { return string(n) })) {
		return coreWord
	}
	return strings.Join(each(names, func(n calendar.ToolName) string { return string(n) }), ",")
}
