package storetest

import (
	"slices"

	"caldav-mcp-server/calendar"
)

func orderTests() []test {
	return []test{
		{"is that of bytes", orderOfBytes},
		{"separates similar names", orderTellsApart},
		{"is kept over pages", orderOverPages},
		{"refuses invalid text", orderRefusesNoText},
	}
}

// tricky are names that locales sort, fold or compare differently from their bytes. Paging by name would lose objects
// if the order or equality depended on the locale.
func tricky() []string {
	return []string{
		"a", "B", "b", "ä", "A", "Z", "z", "É", "é", "e\u0301", "ß", "ss", "ı", "i", "I", "İ", "ﬁ", "fi",
		"a b", "a-b", "a_b", "ab", "a%b", "a.b", "a'b", `a"b`, `a\b`, "a/b", "a ", " a", "\ta", "$1",
		"?", "%", "_", "~",
		"日本", "\u00a0", "\u200b", "a\u200bb", "\ufeff", "\U0001f600", "\ufffd", "0", "00", "10", "9",
		"1", "\x01", "\x7f",
	}
}

func orderOfBytes(b *bundle) {
	cal := b.home()
	want := tricky()
	for _, name := range want {
		b.put(cal, name)
	}
	slices.Sort(want)
	same(b, "names", names(b.list(cal, calendar.ObjectQuery{})), want)
	same(b, "names by time", names(b.list(cal, calendar.ObjectQuery{From: new(int64(0))})), want)
}

func orderTellsApart(b *bundle) {
	cal := b.home()
	for _, name := range tricky() {
		b.put(cal, name)
	}
	for _, name := range tricky() {
		got, err := b.Object(b.Context(), cal.ID, calendar.ObjectName(name))
		b.must(err)
		same(b, "name", string(got.Name), name)
		got, err = b.ObjectByUID(b.Context(), cal.ID, calendar.UID("uid of "+name))
		b.must(err)
		same(b, "name by UID", string(got.Name), name)
	}
}

func orderOverPages(b *bundle) {
	cal := b.home()
	var objects []calendar.Object
	for _, first := range tricky() {
		for _, second := range tricky()[:24] {
			objects = append(objects, b.event(cal, first+"|"+second))
		}
	}
	b.fill(cal, objects)
	want := names(objects)
	slices.Sort(want)
	same(b, "names", names(b.list(cal, calendar.ObjectQuery{})), want)
	same(b, "names with data", names(b.list(cal, calendar.ObjectQuery{WithData: true})), want)
}

// orderRefusesNoText: Postgres cannot store NUL or invalid UTF-8 in text. An engine may refuse such names as Invalid
// or store them, but must not alter them.
func orderRefusesNoText(b *bundle) {
	cal := b.home()
	for _, name := range []string{"a\x00b", "a\xff", "\xc3"} {
		o := b.event(cal, name)
		_, err := b.write(b.Store, o)
		if err != nil {
			b.refused(err, calendar.Invalid, "")
			continue
		}
		got, err := b.Object(b.Context(), cal.ID, o.Name)
		b.must(err)
		same(b, "name", string(got.Name), name)
	}
}
