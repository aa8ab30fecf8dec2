package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// listed is the output of go list for a module.
type listed struct {
	Path, Version string
	Update        *struct{ Version string }
	Deprecated    string
	Retracted     []string
}

// behind lists the modules in the binaries that have newer versions. It only informs: a release without network is
// valid, and so is a version that is one day old.
func (r *release) behind(ctx context.Context) error {
	inside := map[string]bool{}
	for _, p := range r.platforms {
		info, err := buildinfo.ReadFile(r.binary(p))
		if err != nil {
			return err
		}
		for _, m := range info.Deps {
			inside[m.Path] = true
		}
	}
	text, err := output(ctx, r.root, "go", "list", "-m", "-u", "-retracted", "-json", "all")
	if err != nil {
		fmt.Fprintf(r.log, "it could not be asked: %v\n", err)
		return nil
	}
	count := 0
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var m listed
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if line := m.fault(); line != "" && inside[m.Path] {
			fmt.Fprintln(r.log, line)
			count++
		}
	}
	fmt.Fprintf(r.log, "%d of %d modules\n", count, len(inside))
	return nil
}

func (m listed) fault() string {
	var faults []string
	if m.Update != nil {
		faults = append(faults, "there is "+m.Update.Version)
	}
	if m.Deprecated != "" {
		faults = append(faults, "deprecated: "+m.Deprecated)
	}
	if m.Retracted != nil {
		faults = append(faults, "retracted: "+strings.Join(m.Retracted, "; "))
	}
	if faults == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", m.Path, m.Version, strings.Join(faults, ", "))
}
