// Package locale has the texts of pages and mails in each language, and writes dates and durations in it.
//
// A catalog is a file named by its language, such as de.json, with a text for each id. English has every id and is the
// fallback. A new language is a new file; the tests compare it with English.
package locale

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"
	"golang.org/x/text/language"
)

//go:embed *.json
var files embed.FS

// Catalogs are all languages.
type Catalogs struct {
	// languages begins with English, and tags has the same order.
	languages []*Language
	tags      []language.Tag
	matcher   language.Matcher
}

// Language is one language. Its methods may be called concurrently.
type Language struct {
	tag string
	// single has the texts without plural forms, plural the ids of the others, which are in messages.
	single   map[string]string
	plural   map[string]bool
	messages *i18n.Localizer
	// english is the fallback; nil in English itself.
	english *Language
}

// Load returns the catalogs. They are parsed once per process.
func Load() (*Catalogs, error) { return load() }

var load = sync.OnceValues(parse)

func parse() (*Catalogs, error) {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		return nil, err
	}
	english, err := read("en.json", nil)
	if err != nil {
		return nil, err
	}
	all := &Catalogs{languages: []*Language{english}}
	for _, name := range names {
		if name == "en.json" {
			continue
		}
		l, err := read(name, english)
		if err != nil {
			return nil, err
		}
		all.languages = append(all.languages, l)
	}
	slices.SortFunc(all.languages[1:], func(a, b *Language) int { return strings.Compare(a.Name(), b.Name()) })
	for _, l := range all.languages {
		all.tags = append(all.tags, language.Make(l.tag))
	}
	all.matcher = language.NewMatcher(all.tags)
	return all, nil
}

// read parses one catalog.
func read(name string, english *Language) (*Language, error) {
	tag, err := language.Parse(strings.TrimSuffix(name, path.Ext(name)))
	if err != nil {
		return nil, fmt.Errorf("the catalog %s: %w", name, err)
	}
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	messages, err := i18n.ParseMessageBytes(text, json.Unmarshal)
	if err != nil {
		return nil, fmt.Errorf("the catalog %s: %w", name, err)
	}
	l := &Language{
		tag: tag.String(), english: english, single: map[string]string{}, plural: map[string]bool{},
	}
	bundle := i18n.NewBundle(tag)
	for _, m := range messages {
		// The library takes a kilobyte for a text.
		if m.One+m.Few+m.Many == "" {
			l.single[m.ID] = m.Other
			continue
		}
		l.plural[m.ID] = true
		if err := bundle.AddMessages(tag, m); err != nil {
			return nil, fmt.Errorf("the catalog %s: %w", name, err)
		}
	}
	l.messages = i18n.NewLocalizer(bundle, l.tag)
	return l, nil
}

// Languages returns all languages, English first.
func (c *Catalogs) Languages() []*Language { return slices.Clone(c.languages) }

// English returns the fallback.
func (c *Catalogs) English() *Language { return c.languages[0] }

// Match returns the best language for preferences in order: a user's choice, then a browser's Accept-Language header.
// Empty and malformed ones are skipped. Without a match it is English.
func (c *Catalogs) Match(preferences ...string) *Language {
	for _, p := range preferences {
		wanted, _, err := language.ParseAcceptLanguage(p)
		if err != nil || len(wanted) == 0 {
			continue
		}
		if _, i, confidence := c.matcher.Match(wanted...); confidence != language.No {
			return c.languages[i]
		}
	}
	return c.English()
}

// Find returns the language of a tag, or nil.
func (c *Catalogs) Find(tag string) *Language {
	for _, l := range c.languages {
		if l.tag == tag {
			return l
		}
	}
	return nil
}

// Match returns the best language for preferences; see [Catalogs.Match].
func Match(preferences ...string) *Language {
	all, err := Load()
	if err != nil {
		panic(err) // the catalogs are part of the program, and tests read them
	}
	return all.Match(preferences...)
}

// Tag returns the BCP 47 tag, such as "de".
func (l *Language) Tag() string { return l.tag }

// Name returns the language's name in itself, such as "Deutsch".
func (l *Language) Name() string { return l.Text("language.name") }

// Has reports whether a text exists.
func (l *Language) Has(id string) bool { return l.knows(id) || l.english != nil && l.english.Has(id) }

// knows reports whether the language's own catalog has a text.
func (l *Language) knows(id string) bool {
	_, single := l.single[id]
	return single || l.plural[id]
}

// Text returns a text. Pairs are names and values, which replace {{.name}} as plain text; "count" also chooses the
// plural form. If the language lacks the text, it is English. In tests a missing text or value panics.
func (l *Language) Text(id string, pairs ...any) string {
	if !l.knows(id) && l.english != nil {
		complain("the catalog %s lacks %q", l.tag, id)
		return l.english.Text(id, pairs...)
	}
	text, err := l.format(id, pairs)
	if err != nil {
		complain("the text %q in %s: %v", id, l.tag, err)
	}
	if text == "" {
		return id
	}
	return text
}

// format fills a text in. Only plural forms need the library, which matches languages again in each call.
func (l *Language) format(id string, pairs []any) (string, error) {
	if text, ok := l.single[id]; ok {
		return fill(text, pairs)
	}
	return l.messages.Localize(&i18n.LocalizeConfig{
		MessageID: id, TemplateData: pairs, PluralCount: value(pairs, "count"), TemplateParser: filler{},
	})
}

// filler makes the library fill in texts in our way.
type filler struct{}

func (filler) Parse(text, _, _ string) (template.ParsedTemplate, error) { return filling(text), nil }
func (filler) Cacheable() bool                                          { return true }

type filling string

func (f filling) Execute(pairs any) (string, error) {
	list, _ := pairs.([]any)
	return fill(string(f), list)
}

// fill replaces each {{.name}} by the value in pairs.
func fill(text string, pairs []any) (string, error) {
	const opening, closing = "{{.", "}}"
	before, rest, found := strings.Cut(text, opening)
	if !found {
		return text, nil
	}
	var b strings.Builder
	var err error
	for found {
		b.WriteString(before)
		var name string
		name, rest, _ = strings.Cut(rest, closing)
		if v := value(pairs, name); v != nil {
			fmt.Fprint(&b, v)
		} else {
			err = fmt.Errorf("the value of %q is missing", name)
		}
		before, rest, found = strings.Cut(rest, opening)
	}
	b.WriteString(before)
	return b.String(), err
}

// value returns the value of a name in pairs, or nil.
func value(pairs []any, name string) any {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == name {
			return pairs[i+1]
		}
	}
	return nil
}

// complain fails tests.
func complain(format string, a ...any) {
	if testing.Testing() {
		panic(fmt.Sprintf(format, a...))
	}
}
