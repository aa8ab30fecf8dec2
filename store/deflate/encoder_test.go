package deflate_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/store/deflate"
)

// firstWords is the dictionary that the journal is packed with.
func firstWords(t testing.TB) []byte {
	t.Helper()
	return file(t, "../packing.1.dict")
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sample is some texts of a kind.
type sample struct {
	kind  string
	texts [][]byte
}

// samples are what clients send, and larger texts of their kind.
func samples(t testing.TB) []sample {
	t.Helper()
	var clients [][]byte
	names, _ := filepath.Glob("../../ical/testdata/clients/*.ics")
	for _, name := range names {
		clients = append(clients, file(t, name))
	}
	if len(clients) == 0 {
		t.Fatal("there are no texts of clients")
	}
	list := []sample{{"clients", clients}}
	for _, kind := range []struct {
		name                      string
		n, guests, words, picture int
	}{
		{name: "event", n: 100, words: 12},
		{name: "6 guests", n: 50, guests: 6, words: 12},
		{name: "30 guests", n: 20, guests: 30, words: 12},
		{name: "200 guests", n: 5, guests: 200, words: 12},
		{name: "8 KB described", n: 10, guests: 2, words: 1_200},
		{name: "60 KB described", n: 3, guests: 2, words: 10_000},
		{name: "picture", n: 5, words: 12, picture: 4_500},
	} {
		random, s := rand.New(rand.NewPCG(uint64(kind.n), 1)), sample{kind: kind.name}
		for range kind.n {
			s.texts = append(s.texts, event(random, prose(t), kind.guests, kind.words, kind.picture))
		}
		list = append(list, s)
	}
	return list
}

// prose is the words of people.
func prose(t testing.TB) (words []string) {
	t.Helper()
	for _, name := range []string{"operate.md", "scheduling.md", "mcp.md", "architecture.md"} {
		words = append(words, strings.Fields(string(file(t, "../../docs/"+name)))...)
	}
	return words
}

// event is an event as programs write it.
func event(random *rand.Rand, words []string, guests, described, picture int) []byte {
	some := func(n int) string {
		from := random.IntN(len(words) - n)
		return strings.Join(words[from:from+n], " ")
	}
	var b strings.Builder
	line := func(format string, values ...any) {
		text := fmt.Sprintf(format, values...)
		for ; len(text) > 75; text = " " + text[75:] {
			b.WriteString(text[:75] + "\r\n")
		}
		b.WriteString(text + "\r\n")
	}
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Mozilla.org/NONSGML Mozilla Calendar V1.1//EN\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Paris\r\n" +
		"BEGIN:DAYLIGHT\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nTZNAME:CEST\r\nDTSTART:19700329T020000\r\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\r\nEND:DAYLIGHT\r\n" +
		"BEGIN:STANDARD\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nTZNAME:CET\r\nDTSTART:19701025T030000\r\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\r\nEND:STANDARD\r\n" +
		"END:VTIMEZONE\r\nBEGIN:VEVENT\r\n")
	day, second := 1+random.IntN(28), random.IntN(60)
	line("CREATED:202602%02dT0933%02dZ", day, second)
	line("LAST-MODIFIED:202603%02dT1745%02dZ", day, second)
	line("DTSTAMP:202603%02dT1745%02dZ", day, second)
	line("UID:%08X-90BB-4D27-%04X-%012X", random.Uint32(), random.IntN(1<<16), random.Uint64N(1<<48))
	line("SUMMARY:%s", some(4))
	line("DTSTART;TZID=Europe/Paris:202604%02dT143000", day)
	line("DTEND;TZID=Europe/Paris:202604%02dT154500", day)
	line("LOCATION:%s", some(3))
	line("DESCRIPTION:%s", some(described))
	line("ORGANIZER;CN=Ann Miller:mailto:ann.miller@corp.example")
	for range guests {
		given, family := some(1), some(1)
		line("ATTENDEE;CN=%s %s;PARTSTAT=NEEDS-ACTION;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT:mailto:%s.%s@corp.example", given, family, given, family)
	}
	if picture > 0 {
		line("ATTACH;ENCODING=BASE64;VALUE=BINARY:%s", base64.StdEncoding.EncodeToString(noise(random, picture)))
	}
	b.WriteString("BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT15M\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
	return []byte(b.String())
}

func noise(random *rand.Rand, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	return text
}

// standard packs as compress/flate does.
type standard struct {
	out    bytes.Buffer
	writer *flate.Writer
}

func newStandard(t testing.TB, words []byte) *standard {
	t.Helper()
	var s standard
	var err error
	if s.writer, err = flate.NewWriterDict(&s.out, 2, words); err != nil {
		t.Fatal(err)
	}
	return &s
}

func (s *standard) pack(text []byte) int {
	s.out.Reset()
	s.writer.Reset(&s.out)
	_, _ = s.writer.Write(text)
	_ = s.writer.Close()
	return s.out.Len()
}

// readBack asks that compress/flate reads what an encoder writes, and that this is what a new encoder writes.
func readBack(t testing.TB, e *deflate.Encoder, words, text []byte) (packed []byte) {
	t.Helper()
	packed = e.Append(nil, text)
	in := bytes.NewReader(packed)
	again, err := io.ReadAll(flate.NewReaderDict(in, words))
	if err != nil || !bytes.Equal(again, text) || in.Len() > 0 {
		t.Fatalf("%d bytes, %.60q, are packed as %d and read as %d, %.60q, with %d left: %v", len(text), text, len(packed), len(again), again, in.Len(), err)
	}
	if anew := deflate.NewDictionary(words).NewEncoder().Append([]byte("before"), text); string(anew) != "before"+string(packed) {
		t.Fatalf("%d bytes, %.60q, are packed as %d after other texts, and as %d before", len(text), text, len(packed), len(anew)-6)
	}
	return packed
}

// Texts of all kinds take what they take by compress/flate, or less, and a twentieth more at most.
func TestSizes(t *testing.T) {
	t.Parallel()
	words := firstWords(t)
	e, s := deflate.NewDictionary(words).NewEncoder(), newStandard(t, words)
	sum, sumBefore := 0, 0
	for _, one := range samples(t) {
		size, before, whole, n := 0, 0, 0, len(one.texts)
		for _, text := range one.texts {
			whole += len(text)
			size += len(readBack(t, e, words, text))
			before += s.pack(text)
		}
		t.Logf("%s: of %d bytes, %d by compress/flate and %d by ours, %.1f %%", one.kind, whole/n, before/n, size/n, 100*float64(size)/float64(before))
		if 100*size > 105*before {
			t.Errorf("%s take %d bytes, and %d by compress/flate", one.kind, size, before)
		}
		sum, sumBefore = sum+size, sumBefore+before
	}
	if sum > sumBefore {
		t.Errorf("all take %d bytes, and %d by compress/flate", sum, sumBefore)
	}
}

// anything makes a text of pieces: noise, few letters, the dictionary's words, and what was there before.
func anything(random *rand.Rand, words []byte, most int) (text []byte) {
	length := random.IntN(most + 1)
	for len(text) < length {
		n := 1 + random.IntN(min(1<<random.IntN(17), length-len(text)))
		switch random.IntN(5) {
		case 0:
			text = append(text, noise(random, n)...)
		case 1:
			text = append(text, bytes.Repeat([]byte{byte(random.Uint32())}, n)...)
		case 2:
			for range n {
				text = append(text, "ab\r\n"[random.IntN(4)])
			}
		case 3:
			from := random.IntN(len(words))
			text = append(text, words[from:min(from+n, len(words))]...)
		default:
			from := random.IntN(len(text) + 1)
			text = append(text, text[from:min(from+n, len(text))]...)
		}
	}
	return text
}

func TestAnythingIsReadBack(t *testing.T) {
	t.Parallel()
	words := firstWords(t)
	dictionaries := map[string][]byte{"ours": words, "none": nil, "three bytes": []byte("abc"), "four": []byte("abab"), "larger than the window": bytes.Repeat(words, 20)}
	for name, words := range dictionaries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, random := deflate.NewDictionary(words).NewEncoder(), rand.New(rand.NewPCG(3, uint64(len(words))))
			for range slowtest.Rounds(t, slowtest.Random, 1_000, 50_000) {
				readBack(t, e, words, anything(random, firstWords(t), []int{100, 300, 2_000, 20_000, 70_000}[min(random.IntN(20), random.IntN(5))]))
			}
			readBack(t, e, words, anything(random, firstWords(t), 1<<20)) // places beyond 16 bits, again and again
		})
	}
}

// Lengths at the edges: of nothing, of what is compared at once, of blocks, and of what the journal packs.
func TestLengthsAtTheEdges(t *testing.T) {
	t.Parallel()
	words, random := firstWords(t), rand.New(rand.NewPCG(5, 6))
	e := deflate.NewDictionary(words).NewEncoder()
	for _, edge := range []int{0, 96, 258, 2 << 10, 8 << 10, 16 << 10, 32 << 10, 64<<10 - len(words), 64 << 10} {
		for n := max(0, edge-12); n <= edge+12; n++ {
			for _, text := range [][]byte{noise(random, n), make([]byte, n), bytes.Repeat(words, n/len(words)+1)[:n]} {
				readBack(t, e, words, text)
			}
		}
	}
}

// Repetitions of each length and distance are read back, and found where the format can say them.
func TestRepetitions(t *testing.T) {
	t.Parallel()
	words, random := firstWords(t), rand.New(rand.NewPCG(7, 8))
	e := deflate.NewDictionary(words).NewEncoder()
	for _, distance := range []int{1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257, 4_096, 24_576, 24_577, 32_767, 32_768, 32_769, 33_000, 50_000} {
		text := append(noise(random, min(distance, 300)), make([]byte, distance-min(distance, 300))...)
		alone := len(readBack(t, e, words, text))
		for length := 3; length <= 262; length++ {
			repeated := text
			for range length {
				repeated = append(repeated, repeated[len(repeated)-distance])
			}
			more := len(readBack(t, e, words, repeated)) - alone
			if found := 4*more < 3*length; length >= 64 && found != (distance <= 32_768) {
				t.Fatalf("%d bytes that were %d before take %d", length, distance, more)
			}
		}
	}
}

// A text of a kilobyte takes no memory but its own.
func TestNothingIsAllocated(t *testing.T) {
	words := firstWords(t)
	e, all, to := deflate.NewDictionary(words).NewEncoder(), samples(t), []byte(nil)
	pack := func() {
		for _, one := range all {
			for _, text := range one.texts {
				to = e.Append(to[:0], text)
			}
		}
	}
	if n := testing.AllocsPerRun(2, pack); n > 0 {
		t.Errorf("%v pieces of memory", n)
	}
}

// Encoders of one dictionary do not meet.
func TestEncodersAtOnce(t *testing.T) {
	t.Parallel()
	words, all := firstWords(t), samples(t)
	d := deflate.NewDictionary(words)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			e := d.NewEncoder()
			for _, text := range all[0].texts {
				readBack(t, e, words, text)
			}
		})
	}
	group.Wait()
}

func FuzzAppend(f *testing.F) {
	random, words := rand.New(rand.NewPCG(9, 10)), firstWords(f)
	for _, text := range samples(f)[0].texts {
		f.Add(words[:1_000], text, text[len(text)/2:])
	}
	for _, most := range []int{0, 10, 300, 3_000} {
		f.Add(words[:most], anything(random, words, most), anything(random, words, most))
	}
	f.Fuzz(func(t *testing.T, words, one, other []byte) {
		e := deflate.NewDictionary(words).NewEncoder()
		readBack(t, e, words, one)
		readBack(t, e, words, other)
	})
}

// BenchmarkPack packs each text as ours and as compress/flate do: cold, when the processor's nearer caches have something else, and at once again. The two
// take turns, and the medians count, so that it matters little what else the machine does.
func BenchmarkPack(b *testing.B) {
	words, elsewhere := firstWords(b), make([]byte, 8<<20)
	e, s, to := deflate.NewDictionary(words).NewEncoder(), newStandard(b, words), []byte(nil)
	ways := []struct {
		name string
		pack func(text []byte)
	}{{"ours", func(text []byte) { to = e.Append(to[:0], text) }}, {"flate", func(text []byte) { s.pack(text) }}}
	for _, one := range samples(b) {
		b.Run(one.kind, func(b *testing.B) {
			var took [2][2][]time.Duration
			n := 0
			for ; b.Loop(); n++ {
				text := one.texts[n%len(one.texts)]
				for i, way := range ways {
					for at := 0; at < len(elsewhere); at += 64 {
						elsewhere[at]++
					}
					for j := range 2 { // the second time is hot
						start := time.Now()
						way.pack(text)
						took[i][j] = append(took[i][j], time.Since(start))
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, way := range ways {
				for j, name := range []string{"cold", "hot"} {
					slices.Sort(took[i][j])
					b.ReportMetric(float64(took[i][j][n/2].Nanoseconds())/1000, way.name+"-"+name+"-µs")
				}
			}
		})
	}
}
