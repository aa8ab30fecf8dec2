package describe_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/locale"
)

var verb = regexp.MustCompile(`%[.0-9]*[a-z]`)

// errorsInPrograms makes an error of each text in the packages that pages call, as if it were a format.
func errorsInPrograms(t *testing.T) (all []*calendar.Error) {
	t.Helper()
	for folder := range strings.FieldsSeq("auth calendar cmd/caldav-mcp-server/app linked mail remind store") {
		err := filepath.WalkDir("../../"+folder, func(path string, entry fs.DirEntry, err error) error {
			name := entry.Name()
			test := strings.HasSuffix(name, "_test.go")
			if err != nil || !strings.HasSuffix(name, ".go") || test || name == "fault.go" {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				format, ok := textOf(n)
				if !ok || !strings.Contains(format, " ") {
					return true
				}
				all = append(all, calendar.Errorf(calendar.Invalid, "", format, valuesOf(format)...))
				return false
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// valuesOf returns a value for each place of a format.
func valuesOf(format string) (args []any) {
	for _, v := range verb.FindAllString(format, -1) {
		if strings.HasSuffix(v, "d") {
			args = append(args, 7)
		} else {
			args = append(args, "QX1")
		}
	}
	return args
}

// textOf returns a text that is written in one or several parts.
func textOf(n ast.Node) (string, bool) {
	switch x := n.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(x.Value)
		return text, err == nil && x.Kind == token.STRING
	case *ast.BinaryExpr:
		first, ok := textOf(x.X)
		second, also := textOf(x.Y)
		return first + second, ok && also && x.Op == token.ADD
	}
	return "", false
}

// TestFaults: each text of an error is for a message that a program has, and says the same in English. No other
// language shows the English message for it.
func TestFaults(t *testing.T) {
	t.Parallel()
	all := errorsInPrograms(t)
	filled := func(text string) string {
		text = strings.NewReplacer("{{.number}}", "7", "{{.most}}", "7").Replace(text)
		return parameter.ReplaceAllString(text, "QX1")
	}
	for tag := range sameWords {
		l, english := locale.Match(tag), textsOf(t, "en", "fault.")
		said := map[string]string{} // the message of each translation
		for _, e := range all {
			if text := describe.Fault(l, e); tag != "en" && describe.Known(e) {
				said[text] = e.Message
			}
		}
		for id, text := range textsOf(t, tag, "fault.") {
			want := strings.NewReplacer("“", `"`, "”", `"`).Replace(filled(english[id]))
			if message := said[filled(text)]; message != want {
				t.Errorf("%s: %q (%s) is said for %q, want for %q", tag, text, id, message, want)
			}
		}
	}
}

// TestInstead: the messages that pages replace exist, as they are in programs.
func TestInstead(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, e := range errorsInPrograms(t) {
		if id := describe.Instead(e); id != "" {
			found[e.Format] = true
		}
	}
	if len(found) != 14 {
		t.Errorf("%d of the replaced messages exist: %v", len(found), found)
	}
}

// TestFaultsOfEnglish: English has the message with its hint, and other languages introduce it as English if there is
// no text. What a user wrote is shown without characters that are invisible.
func TestFaultsOfEnglish(t *testing.T) {
	t.Parallel()
	unknown := calendar.Errorf(calendar.Invalid, "", "the moon is %d", 7).Advising("wait")
	known := calendar.Errorf(calendar.NotFound, "", "there is no user %q", "a\u202eb")
	changed := *known
	changed.Message = "another message"
	advised := calendar.Errorf(calendar.TooLarge, "", "you share %d calendars with %q, which is the limit", 7, "ben").
		Advising("take back one that they no longer need")
	nested := calendar.Errorf(calendar.Invalid, "", "%s cannot be linked: %s", "x.org",
		calendar.Errorf(calendar.Invalid, "", "it answers %d", 404))
	page := calendar.Errorf(calendar.Invalid, "", "%s", "der Mond ist rund")
	for _, tt := range []struct {
		tag  string
		e    *calendar.Error
		want string
	}{
		{"de", unknown, "der Server meldet auf Englisch: the moon is 7; wait"},
		{"en", unknown, "the moon is 7; wait"},
		{"fr", advised, "" +
			"vous partagez 7 agendas avec « ben », le maximum autorisé ; arrêtez un partage qui ne sert plus"},
		{"de", nested, "x.org kann nicht verknüpft werden: die Antwort ist 404"},
		{"de", page, "der Mond ist rund"},
		{"en", known, `there is no user "a\u202eb"`},
		{"de", known, `den Benutzer „a\u202eb“ gibt es nicht`},
		{"de", &changed, "der Server meldet auf Englisch: another message"},
	} {
		if got := describe.Fault(locale.Match(tt.tag), tt.e); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.tag, got, tt.want)
		}
	}
}

// refusals returns an error for each refusal and each delay in the packages of providers.
func refusals(t *testing.T) (all []*calendar.Error) {
	t.Helper()
	for folder := range strings.FieldsSeq("calendar/mirror linked/google linked/microsoft linked/rest linked/token " +
		"linked/vevent") {
		files, err := filepath.Glob("../../" + folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if format, ok := refusalOf(n); ok {
					all = append(all, calendar.Errorf(calendar.Invalid, "", format, valuesOf(format)...))
				}
				return true
			})
		}
	}
	if len(all) < 45 {
		t.Fatalf("found only %d refusals", len(all))
	}
	return all
}

// refusalOf returns the format of a call of Refusef, or the text of a field Why.
func refusalOf(n ast.Node) (string, bool) {
	switch x := n.(type) {
	case *ast.CallExpr:
		name, _ := x.Fun.(*ast.Ident)
		if s, ok := x.Fun.(*ast.SelectorExpr); ok {
			name = s.Sel
		}
		if name != nil && name.Name == "Refusef" {
			return textOf(x.Args[0])
		}
	case *ast.KeyValueExpr:
		if name, ok := x.Key.(*ast.Ident); ok && name.Name == "Why" {
			return textOf(x.Value)
		}
	}
	return "", false
}

// TestRefusals: each refusal of a provider has a text in each language, also when it was stored.
func TestRefusals(t *testing.T) {
	t.Parallel()
	all := refusals(t)
	for tag := range sameWords {
		l, texts := locale.Match(tag), textsOf(t, tag, "fault.")
		said := map[string]bool{}
		for _, text := range texts {
			text = strings.NewReplacer("{{.number}}", "7", "{{.most}}", "7").Replace(text)
			said[parameter.ReplaceAllString(text, "QX1")] = true
		}
		for _, e := range all {
			text := describe.Fault(l, e)
			if tag == "en" {
				text = strings.ReplaceAll(text, `"QX1"`, "“QX1”")
				text = strings.ReplaceAll(text, `"This and all following"`, "“This and all following”")
			}
			if !describe.Known(e) || !said[text] {
				t.Errorf("%s: no text for %q: %q", tag, e.Format, text)
			}
			if stored := describe.Stored(l, e.Message); stored != describe.Fault(l, e) {
				t.Errorf("%s: stored, it is %q, else %q", tag, stored, text)
			}
		}
	}
}

// TestStored: a stored message is translated with its values. A foreign value that looks like a message stays
// unchanged, and an incomplete message, too.
func TestStored(t *testing.T) {
	t.Parallel()
	part := "Google keeps 5 reminders of an event, and this one has 9"
	zones := `The time zone "a" is not known there. The time zone "b" is not known there.`
	for _, tt := range []struct{ message, want string }{
		{part + ". Remove some.", "Google speichert 5 Erinnerungen je Termin, und dieser hat 9. Entferne einige."},
		{part, part},
		{
			`the source has a version that cannot be shown here (The time zone "A \"B\"" is not known there.): ` +
				"change it there",
			`die Version dort kann hier nicht gezeigt werden (Die Zeitzone „A \"B\"“ ist dort unbekannt.): ` +
				"ändere sie dort",
		},
		{
			"Microsoft cannot repeat an event by the rule FREQ=MONTHLY: in a month without that day it takes the " +
				"last one, and the rule takes none. The nearest rule that it has is FREQ=MONTHLY;BYMONTHDAY=-1.",
			"Microsoft kann einen Termin nicht nach der Regel FREQ=MONTHLY wiederholen: in einem Monat ohne diesen " +
				"Tag nimmt es den letzten, die Regel aber keinen. Am nächsten kommt FREQ=MONTHLY;BYMONTHDAY=-1.",
		},
		{
			"The account's server refuses it: the account has no calendars",
			"Der Server des Kontos lehnt es ab: the account has no calendars",
		},
		{
			"The account's server refuses it: {{.said}} %s \u202e<b>",
			`Der Server des Kontos lehnt es ab: {{.said}} %s \u202e<b>`,
		},
		{
			"x.org cannot be linked: the account has no calendars",
			"x.org cannot be linked: the account has no calendars",
		},
		{zones, zones},
		{"it answers 99999999999999999999", "it answers 99999999999999999999"},
	} {
		if got := describe.Stored(locale.Match("de"), tt.message); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
		if got := describe.Stored(locale.Match("en"), tt.message); got != tt.message {
			t.Errorf("English: %q, want %q", got, tt.message)
		}
	}
}
