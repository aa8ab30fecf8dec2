package main

import (
	"io/fs"
	"math"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"caldav-mcp-server/auth"
)

// littleMemory is below what the process takes when all goes on at once that may: four logins' hashes, images,
// large answers.
const littleMemory = 256 << 20

// allowance is how much memory there is for what takes much of it.
type allowance struct {
	logins auth.Limits
	// images and answers are for calendars in memory and for requests in work; 0 is the default of answers.
	images, answers int64
	// collect is from where on garbage is collected sooner, and heap up to where it is not collected at all, see spaceOutCollections.
	collect, heap int64
}

// allow divides what the process may hold, 0 for any amount.
func allow(memory int64) allowance {
	a := allowance{logins: auth.DefaultLimits(), images: imageBytes, collect: memoryLimit, heap: leastHeap}
	if memory > 0 && memory < littleMemory {
		return allowance{logins: a.logins.Small(), images: memory / 16, answers: memory / 4, collect: memory / 4 * 3}
	}
	return a
}

// allowedMemory is the least of what the operator set by GOMEMLIMIT and of the limits of the control groups that the
// process is in, as containers and services have them; 0 where there is none. The files are the machine's, from its root.
func allowedMemory(files fs.FS) int64 {
	least := debug.SetMemoryLimit(-1)
	for _, name := range groupLimits(files) {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			continue // a group of another machine's tree, seen from within a container
		}
		// "max", and what is more than any machine has, is no limit.
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	if least >= math.MaxInt64>>2 {
		return 0
	}
	return least
}

// groupLimits names the files that may limit the process: of its groups and of those around them, in both
// versions of control groups.
func groupLimits(files fs.FS) (names []string) {
	text, err := fs.ReadFile(files, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		root, file := "sys/fs/cgroup", "memory.max"
		if parts[1] == "memory" {
			root, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			names = append(names, path.Join(root, group, file))
			if group == "/" {
				break
			}
		}
	}
	return names
}
