package web

import (
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
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// shared are the templates that every page uses: the layout and common parts.
var shared = []string{"templates/layout.html", "templates/parts.html"}

// parseTemplates returns each page's template by file name, combined with the shared ones.
func parseTemplates() (map[string]*template.Template, error) {
	layout, err := template.New("").Funcs(functions()).ParseFS(templateFiles, shared...)
	if err != nil {
		return nil, fmt.Errorf("the layout: %w", err)
	}
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	all := make(map[string]*template.Template)
	for _, file := range files {
		if slices.Contains(shared, file) {
			continue
		}
		name := strings.TrimSuffix(path.Base(file), ".html")
		t, err := layout.Clone()
		if err == nil {
			t, err = t.ParseFS(templateFiles, file)
		}
		if err != nil {
			return nil, fmt.Errorf("the page %s: %w", name, err)
		}
		all[name] = t
	}
	return all, nil
}

// assets are the style sheet and the scripts. Their names contain a hash of the content, so that browsers can cache
// them forever.
type assets struct {
	// names maps file names to our names, contents our names to the data.
	names    map[string]string
	contents map[string][]byte
}

func readAssets() (assets, error) {
	a := assets{map[string]string{}, map[string][]byte{}}
	files, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		return a, err
	}
	for _, file := range files {
		content, err := staticFiles.ReadFile("static/" + file.Name())
		if err != nil {
			return a, err
		}
		sum := sha256.Sum256(content)
		extension := path.Ext(file.Name())
		name := strings.TrimSuffix(file.Name(), extension) + "-" + hex.EncodeToString(sum[:6]) + extension
		a.names[file.Name()], a.contents[name] = name, content
	}
	return a, nil
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
	_, _ = w.Write(content)
}

// frame is the data of the layout.
type frame struct {
	// Page is the page's own data, Wrong the error of a form shown again, Notice the outcome of the previous action.
	Page          any
	Wrong, Notice string
	// Root is the prefix of all our addresses; Path is the rest of this page's.
	Root, Path string
	// User is nil for a visitor who is not signed in.
	User *menuUser
	Menu []menuItem
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
	Path, Title string
	Here        bool
}

// Asset returns the address of a static file.
func (f frame) Asset(file string) string { return f.Root + "static/" + f.assets.names[file] }

func (p *pageRequest) frame(content any, wrong string) frame {
	f := frame{
		Page: content, Wrong: wrong, Root: p.href(""), Path: strings.TrimPrefix(p.r.URL.Path, root),
		Notice: notices[p.r.URL.Query().Get("done")],
		Next:   localPath(p.r.FormValue("next")), assets: p.assets,
	}
	if !p.signedIn() {
		return f
	}
	u := p.user()
	f.User = &menuUser{u.Name, u.Title(), u.Admin}
	for _, item := range menu {
		if item.admin && !u.Admin {
			continue
		}
		f.Menu = append(f.Menu, menuItem{
			item.path, item.title, f.Path == item.path || item.path != "" && strings.HasPrefix(f.Path, item.path+"/"),
		})
	}
	return f
}

// menu lists the pages of the menu.
var menu = []struct {
	path, title string
	admin       bool
}{
	{"", "Home", false},
	{"calendars", "Calendars", false},
	{"connect", "Connect", false},
	{"apps", "Apps", false},
	{"journal", "Journal", false},
	{"settings", "Account", false},
	{"security", "Security", false},
	{"people", "People", true},
}

// notices are the messages shown after an action.
var notices = map[string]string{
	"signed-out":       "You are signed out.",
	"deleted":          "The account is deleted.",
	"proof-sent":       "A mail with a link is on its way. The address counts once you have opened it.",
	"proven":           "The address is yours.",
	"address-added":    "Added. It counts once the administrator has verified it.",
	"password-changed": "The password is changed, and all other browsers are signed out.",
	"passkey-added":    "The passkey is made.",
	"codes-added":      "Codes are on.",
	"linked":           "Linked. You can sign in with it from now on.",
	"removed":          "Removed.",
	"session-ended":    "Signed out there.",
	"saved":            "Saved.",
	"calendar-made":    "The calendar is made.",
	"calendar-deleted": "The calendar is in the trash.",
	"calendar-left":    "You have given the calendar up.",
	"shared":           "Shared.",
	"unshared":         "No longer shared.",
	"account-linked":   "Linked. Its calendars are in your list now; large ones take a few minutes to fill.",
	"account-looked":   "Up to date.",
	"account-unlinked": "No longer linked, and its key is forgotten. At Google, the leave ends under " +
		"\"Third-party apps\" of the account.",
	"mail-linked": "Linked. Allow apps to read this mail on the Apps page; existing apps do not get access " +
		"automatically.",
	"note-followed": "This server follows it too: it is on these pages, and for your assistants. Your apps go " +
		"on as before.",
	"note-left":           "This server follows it no more. Your apps go on as before.",
	"account-kept":        "No longer linked. Its calendars stay as they were, and are your own.",
	"account-dropped":     "No longer linked. Its calendars are in the trash.",
	"link-ended":          "The link has ended.",
	"invitation-accepted": "The calendar is among yours now.",
	"invitation-declined": "You have declined.",
	"sharer-blocked":      "Blocked. You have left the calendars that this user shares, and get no new ones.",
	"delegate-added":      "Added. This person can use all your calendars now.",
	"delegate-removed":    "Removed. This person can no longer use your calendars.",
	"delegate-resigned":   "Ended. You can no longer use the calendars of this person.",
	"sharer-unblocked":    "Unblocked. This user can share calendars with you again.",
	"proposal-accepted":   "The event has the new time, and all guests are told.",
	"proposal-declined":   "The event stays, and who proposed it is told.",
	"mail-dismissed":      "Dismissed.",
	"app-revoked":         "Revoked. It gets in no more.",
	"app-narrowed":        "It may do less from now on.",
	"webhook-tried":       "A test message is on its way. Its result appears below in a moment.",
	"undone":              "Taken back.",
	"restored":            "It is back.",
	"forgotten":           "It is gone for good.",
	"group-made":          "The group is made.",
	"group-deleted":       "The group is deleted.",
	"members-added":       "They are in the group now.",
	"member-removed":      "Taken out.",
}
