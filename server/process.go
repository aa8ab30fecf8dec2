package server

import (
	"bytes"
	"io"
	"os"
	"runtime/metrics"
	"strconv"
	"time"
)

// goMetrics are a few values of the Go runtime that reveal leaks, under their usual Prometheus names.
func goMetrics() []struct{ name, source, kind, help string } {
	return []struct{ name, source, kind, help string }{
		{"go_goroutines", "/sched/goroutines:goroutines", "gauge", "Goroutines that exist."},
		{"go_memstats_heap_alloc_bytes", "/memory/classes/heap/objects:bytes", "gauge", "Bytes of heap objects."},
		{"go_memstats_sys_bytes", "/memory/classes/total:bytes", "gauge", "Bytes taken from the system."},
		{"go_gc_cycles_total", "/gc/cycles/total:gc-cycles", "counter", "Garbage collections finished."},
	}
}

func writeProcess(w io.Writer, started time.Time) {
	for _, m := range goMetrics() {
		read := []metrics.Sample{{Name: m.source}}
		metrics.Read(read)
		if read[0].Value.Kind() != metrics.KindUint64 {
			continue // this version of Go lacks the value
		}
		family(w, m.name, m.kind, m.help)
		sample(w, m.name, float64(read[0].Value.Uint64()))
	}
	family(w, "process_start_time_seconds", "gauge", "When the process started, in Unix time.")
	sample(w, "process_start_time_seconds", float64(started.UnixMilli())/1000)
	writeLinux(w)
}

// writeLinux adds the values that Linux provides in /proc.
func writeLinux(w io.Writer) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	ticks, pages := parseStat(stat)
	family(w, "process_cpu_seconds_total", "counter", "Processor time spent.")
	sample(w, "process_cpu_seconds_total", ticks/ticksPerSecond)
	if most := maxDescriptors(); most > 0 {
		family(w, "process_max_fds", "gauge", "Files and connections that may be open.")
		sample(w, "process_max_fds", most)
	}
	family(w, "process_resident_memory_bytes", "gauge", "Memory held.")
	sample(w, "process_resident_memory_bytes", pages*float64(os.Getpagesize()))
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		family(w, "process_open_fds", "gauge", "Open files and connections.")
		sample(w, "process_open_fds", float64(len(open)))
	}
}

// maxDescriptors returns the limit from proc(5)'s limits file, or 0 if there is none.
func maxDescriptors() float64 {
	text, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("Max open files")); ok {
			most, _ := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
			return most
		}
	}
	return 0
}

// ticksPerSecond is the unit of times in /proc, the same on every Linux that Go supports.
const ticksPerSecond = 100

// parseStat returns the CPU time and the resident pages from proc(5)'s stat file. The second field, the program's name,
// may contain any character; the rest begins after its closing parenthesis.
func parseStat(stat []byte) (ticks, pages float64) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	value := func(number int) float64 {
		const first = 3 // the number of the first field after the parenthesis
		if number-first >= len(fields) {
			return 0
		}
		v, _ := strconv.ParseFloat(string(fields[number-first]), 64)
		return v
	}
	return value(14) + value(15), value(24)
}
