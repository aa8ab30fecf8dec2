package web

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func (h *Handler) groupPages() []page {
	create := post("groups", provenAdmins, groupPages.createGroup)
	create.back = "people"
	return []page{
		create,
		get("groups/{name}", admins, showing("group", groupPages.wantedGroup)),
		post("groups/{name}", provenAdmins, groupPages.changeGroup),
	}
}

// newGroupForm is the form for a new group.
type newGroupForm struct{ Name, Title string }

// groupContent is the data of the page of one group, for administrators.
type groupContent struct {
	auth.Group
	// Wanted are the names as typed; Names are the users to choose from.
	Wanted string
	Names  []calendar.User
}

// groupPages manage groups, for administrators.
type groupPages struct{ *pageRequest }

func (p groupPages) createGroup() error {
	form := newGroupForm{p.field("name"), p.field("title")}
	g, err := p.Auth.CreateGroup(p.r.Context(), form.Name, form.Title)
	if err == nil {
		p.did("groups/create", g.Name)
		return p.done("groups/"+g.Name, "group-made")
	}
	content, failed := userPages(p).peopleContent()
	if failed != nil {
		return failed
	}
	content.Group = form
	return p.again("people", content, err)
}

// wantedGroup returns the group that the path names.
func (p groupPages) wantedGroup() (groupContent, error) {
	all, err := p.Auth.Groups(p.r.Context())
	if err != nil {
		return groupContent{}, err
	}
	i := slices.IndexFunc(all, func(g auth.Group) bool { return g.Name == p.r.PathValue("name") })
	if i < 0 {
		return groupContent{}, errMissing()
	}
	names, err := p.Auth.UserNames(p.r.Context())
	members := all[i].Members
	return groupContent{
		Group: all[i], Wanted: p.field("members"), Names: slices.DeleteFunc(names, func(u calendar.User) bool {
			return slices.ContainsFunc(members, func(m calendar.User) bool { return m.ID == u.ID })
		}),
	}, err
}

// groupDeeds are the actions on a group, by the name of their button, with the resulting notice and page.
var groupDeeds = map[string]struct {
	do           func(p groupPages, name string) error
	notice, page string
}{
	"add": {do: groupPages.addMembers, notice: "members-added"},
	"remove": {do: func(p groupPages, name string) error {
		err := p.Auth.RemoveMembers(p.r.Context(), name, []string{p.field("member")})
		if err == nil {
			p.did("groups/remove", name, p.field("member"))
		}
		return err
	}, notice: "member-removed"},
	"delete": {
		do:     func(p groupPages, name string) error { return p.Auth.DeleteGroup(p.r.Context(), name) },
		notice: "group-deleted", page: "people",
	},
}

func (p groupPages) changeGroup() error {
	c, err := p.wantedGroup()
	if err != nil {
		return err
	}
	deed, ok := groupDeeds[p.field("do")]
	if !ok {
		return errMissing()
	}
	p.did("groups/"+p.field("do"), c.Name)
	if err := deed.do(p, c.Name); err != nil {
		return p.again("group", c, err)
	}
	if deed.page != "" {
		return p.done(deed.page, deed.notice)
	}
	return p.done("groups/"+c.Name, deed.notice)
}

// addMembers adds the users in the form, separated by commas or blanks. All unknown names are reported at once.
func (p groupPages) addMembers(name string) error {
	names := strings.FieldsFunc(p.field("members"), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(names) == 0 {
		return p.wrong("group.wanted-missing")
	}
	all, err := p.Auth.UserNames(p.r.Context())
	if err != nil {
		return err
	}
	unknown := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(all, func(u calendar.User) bool { return strings.EqualFold(u.Name, name) })
	})
	if len(unknown) > 0 {
		return p.wrong("group.unknown", "count", len(unknown), "names", within(strings.Join(unknown, ", "), 400))
	}
	added, err := p.Auth.AddMembers(p.r.Context(), name, names)
	p.did("groups/add", append([]string{name}, added...)...)
	return err
}

// did writes an action that concerns other users or groups to the audit log.
func (p *pageRequest) did(what string, whom ...string) {
	if p.Did != nil {
		p.Did(p.r.Context(), what, strings.Join(whom, " "))
	}
}

// details adds a calendar, and a right or numbers, to the line in the audit log.
func (p *pageRequest) details(id calendar.CalendarID, format string, args ...any) {
	if p.Details != nil {
		p.Details(p.r.Context(), string(id), fmt.Sprintf(format, args...))
	}
}
