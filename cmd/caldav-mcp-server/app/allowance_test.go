package app

import (
	"testing"
	"testing/fstest"
)

func TestAllowedMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no control groups", nil, 0},
		{"a container", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "67108864\n"}, 64 <<
			20},
		{"a container without a limit", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n",
		}, 0},
		{"a service in a slice with less", map[string]string{
			"proc/self/cgroup": "0::/system.slice/calendar.service\n",
			"sys/fs/cgroup/system.slice/calendar.service/memory.max": "134217728\n",
			"sys/fs/cgroup/system.slice/memory.max":                  "100000000\n",
		}, 100000000},
		{"version 1", map[string]string{
			"proc/self/cgroup":                           "5:cpu:/\n4:memory:/docker/1f\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "50000000\n",
		}, 50000000},
		{"version 1 without a limit", map[string]string{
			"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 0},
		{"nonsense", map[string]string{"proc/self/cgroup": "0\n::\nx:memory", "sys/fs/cgroup/memory.max": "-1"}, 0},
	} {
		files := fstest.MapFS{}
		for name, text := range c.files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := allowedMemory(files); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if a := allow(64 << 20); !a.logins.OnePlace || a.images > 8<<20 || a.collect >= 64<<20 {
		t.Errorf("of 64 MiB: %+v", a)
	}
	if a := allow(0); a.logins.OnePlace || a.images != imageBytes || a.collect != memoryLimit {
		t.Errorf("of any amount: %+v", a)
	}
}
