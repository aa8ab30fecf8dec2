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
				var args []any
				for _, v := range verb.FindAllString(format, -1) {
					if strings.HasSuffix(v, "d") {
						args = append(args, 7)
					} else {
						args = append(args, "QX1")
					}
				}
				all = append(all, calendar.Errorf(calendar.Invalid, "", format, args...))
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
