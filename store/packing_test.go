package store

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/db"
)

// Packed texts must stay readable for ever, so the dictionary must not change.
func TestFirstWordsStay(t *testing.T) {
	t.Parallel()
	const was = "280e0bfa8a0c01f527c9156225dc2b972833ca09b730b8f2446d1e3e5c404016"
	if digest := sha256.Sum256(firstWords); hex.EncodeToString(digest[:]) != was {
		t.Errorf("the dictionary is another, %x: journals cannot be read any more", digest)
	}
}

// ordinary is an event as clients write it.
func ordinary(guests int) []byte {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Mozilla.org/NONSGML Mozilla Calendar V1.1//EN\r\n" +
		"BEGIN:VTIMEZONE\r\nTZID:Europe/Paris\r\n" +
		"BEGIN:DAYLIGHT\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nTZNAME:CEST\r\nDTSTART:19700329T020000\r\n" +
		"RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\r\nEND:DAYLIGHT\r\n" +
		"BEGIN:STANDARD\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nTZNAME:CET\r\nDTSTART:19701025T030000\r\n" +
		"RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\r\nEND:STANDARD\r\n" +
		"END:VTIMEZONE\r\nBEGIN:VEVENT\r\nCREATED:20260214T093321Z\r\nLAST-MODIFIED:20260219T174518Z\r\n" +
		"DTSTAMP:20260219T174518Z\r\nUID:5F1E3A6C-90BB-4D27\r\n" +
		"SUMMARY:Budget review with the team\r\nDTSTART;TZID=Europe/Paris:20260317T143000\r\n" +
		"DTEND;TZID=Europe/Paris:20260317T154500\r\nRRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=17\r\n" +
		"LOCATION:Fourth floor\\, Hamburg\r\nDESCRIPTION:Please bring the figures of last month and whoever can " +
		"answer questions.\r\nORGANIZER;CN=Ann Miller:mailto:ann.miller@corp.example\r\n")
	for i := range guests {
		fmt.Fprintf(&b, "ATTENDEE;CN=Guest %d;PARTSTAT=ACCEPTED;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT:mailto:\r\n "+
			"guest.%02x@corp.example\r\n", i, i*37%251)
	}
	b.WriteString("BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT15M\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\n" +
		"END:VEVENT\r\nEND:VCALENDAR\r\n")
	return []byte(b.String())
}

// Every text is read unchanged, and ordinary ones take at most a third of their size.
func TestPacking(t *testing.T) {
	t.Parallel()
	packers := &sync.Pool{New: newPacker}
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 2000)
	for i := range noise {
		noise[i] = byte(random.IntN(256))
	}
	texts := map[string][]byte{
		"nothing": nil, "empty": {}, "settings": []byte(`{"name":"Work"}`), "noise": noise,
		"first is the mark": append([]byte{packedFirst}, ordinary(0)...),
		"event":             ordinary(3), "30 guests": ordinary(30),
		"at the bound": bytes.Repeat([]byte("x"), mostPacked),
		"beyond it":    bytes.Repeat([]byte("x"), mostPacked+1),
	}
	for name, text := range texts {
		stored, unpacked := pack(packers, text)
		if unpacked != 0 && (int(unpacked) != len(text) || len(stored) >= len(text)) || unpacked == 0 &&
			!bytes.Equal(stored, text) {
			t.Errorf("%s of %d bytes is stored as %d, which say that they are %d", name, len(text),
				len(stored), unpacked)
		}
		var again []byte
		if err := (packedText{&again, new(bool)}).Scan(stored); err != nil ||
			!bytes.Equal(again, text) || (again == nil) != (text == nil) {
			t.Errorf("%s is read as %.60q, %v", name, again, err)
		}
	}
	for _, name := range []string{"event", "30 guests"} {
		if stored, _ := pack(packers, texts[name]); 3*len(stored) > len(texts[name]) {
			t.Errorf("%s of %d bytes is stored as %d", name, len(texts[name]), len(stored))
		}
	}
}

// Texts packed with compress/flate, by earlier versions, are readable.
func TestPackedBefore(t *testing.T) {
	t.Parallel()
	text := ordinary(30)
	var stored bytes.Buffer
	stored.Write(binary.AppendUvarint([]byte{packedFirst}, uint64(len(text))))
	w, err := flate.NewWriterDict(&stored, 2, firstWords)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if again, err := unpack(stored.Bytes()); err != nil || !bytes.Equal(again, text) {
		t.Errorf("it is read as %.60q, %v", again, err)
	}
}

// Concurrent packers do not mix their texts.
func TestPackingAtOnce(t *testing.T) {
	t.Parallel()
	packers := &sync.Pool{New: newPacker}
	var group sync.WaitGroup
	for first := range 8 {
		group.Go(func() {
			for guests := first; guests < first+40; guests += 3 {
				text := ordinary(guests)
				stored, _ := pack(packers, text)
				if again, err := unpack(stored); err != nil || !bytes.Equal(again, text) {
					t.Errorf("%d guests are read as %.60q, %v", guests, again, err)
				}
			}
		})
	}
	group.Wait()
}

// Damaged texts are reported, and take no more memory than intact ones.
func TestUnpackingDamage(t *testing.T) {
	t.Parallel()
	stored, _ := pack(&sync.Pool{New: newPacker}, ordinary(5))
	for n := 1; n < len(stored); n += 3 {
		if text, err := unpack(stored[:n]); !errors.Is(err, errPacking) {
			t.Fatalf("of %d bytes, %d are read as %.40q, %v", len(stored), n, text, err)
		}
	}
	if _, err := unpack([]byte{packedFirst, 0xff, 0xff, 0xff, 0xff, 0x7f}); !errors.Is(err, errPacking) {
		t.Errorf("gigabytes are announced: %v", err)
	}
	shorter := bytes.Clone(stored)
	shorter[1]-- // the lowest bits of the length
	for _, damaged := range [][]byte{{packedFirst, 0}, {packedFirst, 0, 3}, shorter} {
		text, told := []byte("of the line before"), false
		if err := (packedText{&text, &told}).Scan(damaged); err != nil || text != nil || !told {
			t.Errorf("% .12x is read as %.40q, %v", damaged, text, err)
		}
	}
}

// Lines that an earlier version wrote unpacked are read next to packed ones, with their size.
func TestJournalOfBeforeIsRead(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		ctx, s, text := t.Context(), openMigrated(t, url), ordinary(8)
		const cal = calendar.CalendarID("work")
		if err := s.InsertUser(ctx, calendar.User{ID: "u", Name: "u"}, "hash"); err != nil {
			t.Fatal(err)
		}
		err := s.Update(ctx, func(tx calendar.Tx) error {
			err := tx.InsertCalendar(ctx, calendar.Calendar{
				ID: cal, Owner: "u", Segment: "s",
				Properties: calendar.Properties{Kinds: calendar.AllKinds()},
			})
			for v := range calendar.Version(2) {
				err = errors.Join(err, tx.Log(ctx, calendar.Change{
					Calendar: cal, Version: v + 1, Object: "a.ics",
					UID: "a", Did: calendar.Modified, Before: text,
				}))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = s.update(ctx, func(tx *Tx) error {
			_, err := tx.Exec(ctx, `UPDATE journal SET before = $2, unpacked = 0
				WHERE calendar_id = $1 AND version = 1`, cal, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for c, err := range s.Journal(ctx, cal, calendar.JournalQuery{WithBefore: true}) {
			if n++; err != nil || !bytes.Equal(c.Before, text) || c.Size != int64(len(text)) {
				t.Errorf("line %d: %d bytes are read as %d, %v", n, c.Size, len(c.Before), err)
			}
		}
		for most, want := range map[int64]bool{int64(len(text)): true, int64(len(text)) - 1: false} {
			read, err := s.Texts(ctx, cal, []calendar.Version{1, 2}, most)
			if err != nil || len(read) != 2 {
				t.Fatalf("texts: %d, %v", len(read), err)
			}
			for _, one := range read {
				if bytes.Equal(one.Before, text) != want || one.Version == 1 && bytes.Equal(one.After, text) != want {
					t.Errorf("of at most %d bytes, %d's are %d and %d", most, one.Version,
						len(one.Before), len(one.After))
				}
			}
		}
		sizes, err := db.RowsOf(ctx, s.db.Reads, db.ScanNumber, `SELECT octet_length(before) FROM journal
			WHERE calendar_id = $1 ORDER BY version`, cal)
		if err != nil || n != 2 || len(sizes) != 2 || sizes[0] != int64(len(text)) || 3*sizes[1] > sizes[0] {
			t.Errorf("%d lines, stored with %v bytes: %v", n, sizes, err)
		}
	})
}
