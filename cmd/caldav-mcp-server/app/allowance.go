package app

import (
	"io/fs"
	"math"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"caldav-mcp-server/auth"
)

// littleMemory is less than the process can need at peak: four password hashes, cached calendars and large responses.
const littleMemory = 256 << 20

// allowance divides the memory among its large consumers.
type allowance struct {
	logins auth.Limits
	// images limits cached calendars, answers limits running requests; 0 is the default of answers.
	images, answers int64
	// collect is the heap size above which garbage is collected more often. Below heap it is not collected: see
	// spaceOutCollections.
	collect, heap int64
}

// allow divides the memory that the process may use; 0 means no limit.
func allow(memory int64) allowance {
	a := allowance{logins: auth.DefaultLimits(), images: imageBytes, collect: memoryLimit, heap: leastHeap}
	if memory > 0 && memory < littleMemory {
		return allowance{logins: a.logins.Small(), images: memory / 16, answers: memory / 4, collect: memory / 4 * 3}
	}
	return a
}

// allowedMemory is the lowest of GOMEMLIMIT and the memory limits of the process's control groups, which containers and
// services set. It is 0 if there is no limit. files is the root file system.
func allowedMemory(files fs.FS) int64 {
	least := debug.SetMemoryLimit(-1)
	for _, name := range groupLimits(files) {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			continue // a group outside of the container's view
		}
		// "max" and values beyond any machine's memory mean no limit.
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	if least >= math.MaxInt64>>2 {
		return 0
	}
	return least
}

// groupLimits names the files with memory limits of the process: for each of its control groups and their parents, in
// both versions of control groups.
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
