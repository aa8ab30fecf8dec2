package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"caldav-mcp-server/locale"
	"caldav-mcp-server/web/planner"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// shared are the templates that every page uses: the layout and common parts.
var shared = []string{"templates/layout.html", "templates/parts.html"}

// templates are the pages of one language by file name. A page is combined with the shared templates and parsed when it
// is first needed: all pages of a language take 12 MB. A test parses all.
type templates map[string]func() (*template.Template, error)

func newTemplates(all *locale.Catalogs) (map[*locale.Language]templates, error) {
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	pages := make(map[*locale.Language]templates)
	for _, l := range all.Languages() {
		pages[l] = templates{}
		for _, file := range files {
			if slices.Contains(shared, file) {
				continue
			}
			name := strings.TrimSuffix(path.Base(file), ".html")
			pages[l][name] = sync.OnceValues(func() (*template.Template, error) {
				return template.New("").Funcs(functions(l)).ParseFS(templateFiles, append(slices.Clip(shared), file)...)
			})
		}
	}
	return pages, nil
}

// assets are the style sheet and the scripts. Their names contain a hash of the content, so that browsers can cache
// them forever.
type assets struct {
	// names maps file names to our names, contents our names to the data. packed has the gzip forms of the files that
	// become smaller.
	names            map[string]string
	contents, packed map[string][]byte
}

func readAssets() (assets, error) {
	a := assets{map[string]string{}, map[string][]byte{}, map[string][]byte{}}
	files, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		return a, err
	}
	for _, file := range files {
		content, err := staticFiles.ReadFile("static/" + file.Name())
		if err != nil {
			return a, err
		}
		if file.Name() == "calendar.css" {
			content = append(content, positions()...)
		}
		sum := sha256.Sum256(content)
		extension := path.Ext(file.Name())
		name := strings.TrimSuffix(file.Name(), extension) + "-" + hex.EncodeToString(sum[:6]) + extension
		a.names[file.Name()], a.contents[name] = name, content
		if small := compressed(content); len(small) < len(content) {
			a.packed[name] = small
		}
	}
	return a, nil
}

// positions returns the style rules for the positions of blocks in a day, because our policy forbids inline styles. A
// day has 288 units of five minutes: t is the top of a block, h its height, and c its column.
func positions() []byte {
	var b bytes.Buffer
	for unit := range 288 {
		fmt.Fprintf(&b, ".t%d{top:calc(%[1]d*var(--unit))}.h%d{height:calc(%[2]d*var(--unit))}\n", unit, unit+1)
	}
	for columns := 1; columns <= planner.MostColumns; columns++ {
		for column := range columns {
			fmt.Fprintf(&b, ".c%dof%d{inset-inline-start:%.2f%%;width:%.2f%%}\n", column, columns,
				100*float64(column)/float64(columns), 100/float64(columns))
		}
	}
	return b.Bytes()
}

func (h *Handler) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	content, ok := h.assets.contents[name]
	if !ok {
		h.missing(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Vary", "Accept-Encoding")
	if small := h.assets.packed[name]; small != nil && takesGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		content = small
	}
	_, _ = w.Write(content)
}

// frame is the data of the layout.
type frame struct {
	// Page is the page's own data, Wrong the error of a form shown again, Notice the outcome of the previous action.
	Page          any
	Wrong, Notice string
	// Lang is the tag of the language.
	Lang string
	// Base is the prefix of all our addresses, Root is the prefix of the settings; Path is the rest of this page's.
	Base, Root, Path string
	// User is nil for a visitor who is not signed in.
	User *menuUser
	// Menu leads to the parts of the pages, Submenu to the pages for settings.
	Menu, Submenu []menuItem
	// Wide is set for the calendar, which takes the whole width.
	Wide bool
	// AsOf is the line above the page when the browser shows it without a connection; "" if it does not.
	AsOf string
	// Next is the page to go to after signing in.
	Next string
	// assets has the names of the static files.
	assets assets
}

type menuUser struct {
	Name, Title string
	Admin       bool
}

type menuItem struct {
	Href, Title string
	Here        bool
}

// Site returns the address above all pages.
func (f frame) Site() string { return strings.TrimSuffix(f.Root, strings.TrimPrefix(root, "/")) }

// Asset returns the address of a static file.
func (f frame) Asset(file string) string { return f.Root + "static/" + f.assets.names[file] }

func (p *pageRequest) frame(content any, wrong string) frame {
	f := frame{
		Page: content, Wrong: wrong, Base: p.base, Root: p.href(""), Path: strings.TrimPrefix(p.r.URL.Path, root),
		Notice: p.notice(), Lang: p.lang.Tag(), Next: localPath(p.r.FormValue("next")), assets: p.assets,
	}
	if !p.signedIn() {
		return f
	}
	u := p.user()
	f.User = &menuUser{u.Name, u.Title(), u.Admin}
	path := p.r.URL.Path
	f.Menu = []menuItem{
		{p.href(calendarRoot), p.lang.Text("menu.calendar"), strings.HasPrefix(path, calendarRoot)},
		{p.href(tasksRoot), p.lang.Text("menu.tasks"), strings.HasPrefix(path, tasksRoot)},
		{p.href(""), p.lang.Text("menu.settings"), strings.HasPrefix(path, root)},
	}
	f.Wide = strings.HasPrefix(path, calendarRoot) || strings.HasPrefix(path, tasksRoot)
	if f.Wide {
		now := p.clock().in(p.Now())
		f.AsOf = p.lang.Text("offline.as-of", "day", p.lang.ShortDateYear(now), "time", p.clock().time(now))
	}
	for _, item := range settingsMenu {
		if !strings.HasPrefix(path, root) || item.admin && !u.Admin {
			continue
		}
		f.Submenu = append(f.Submenu, menuItem{
			p.href(item.path), p.lang.Text(item.title),
			f.Path == item.path || item.path != "" && strings.HasPrefix(f.Path, item.path+"/"),
		})
	}
	return f
}

// notice returns the outcome of the previous action, which the address names. Only names of texts count, so that an
// address cannot make a page say anything else.
func (p *pageRequest) notice() string {
	id := "notice." + p.r.URL.Query().Get("done")
	if !p.lang.Has(id) {
		return ""
	}
	return p.lang.Text(id)
}

// settingsMenu lists the pages for settings, with the ids of their titles.
var settingsMenu = []struct {
	path, title string
	admin       bool
}{
	{"", "menu.home", false},
	{"suggestions", "menu.suggestions", false},
	{"calendars", "menu.calendars", false},
	{"booking", "booking.pages", false},
	{"polls", "poll.polls", false},
	{"connect", "menu.connect", false},
	{"apps", "menu.apps", false},
	{"journal", "menu.journal", false},
	{"settings", "menu.account", false},
	{"security", "menu.security", false},
	{"people", "menu.people", true},
}
