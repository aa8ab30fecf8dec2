package web

import (
	"slices"
	"strings"
	"unicode"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func (h *Handler) groupPages() []page {
	create := post("groups", provenAdmins, (*visit).createGroup)
	create.back = "people"
	return []page{
		create,
		get("groups/{name}", admins, showing("group", (*visit).wantedGroup)),
		post("groups/{name}", provenAdmins, (*visit).changeGroup),
	}
}

// newGroupForm is the form for a new group.
type newGroupForm struct{ Name, Title string }

// groupContent is the data of the page of one group, for administrators.
type groupContent struct {
	auth.Group
	// Wanted are the names as typed.
	Wanted string
}

func (v *visit) createGroup() error {
	form := newGroupForm{v.field("name"), v.field("title")}
	g, err := v.Auth.CreateGroup(v.r.Context(), form.Name, form.Title)
	if err == nil {
		v.did("groups/create", g.Name)
		return v.done("groups/"+g.Name, "group-made")
	}
	content, failed := v.peopleContent()
	if failed != nil {
		return failed
	}
	content.Group = form
	return v.again("people", content, err)
}

// wantedGroup returns the group that the path names.
func (v *visit) wantedGroup() (groupContent, error) {
	all, err := v.Auth.Groups(v.r.Context())
	if err != nil {
		return groupContent{}, err
	}
	i := slices.IndexFunc(all, func(g auth.Group) bool { return g.Name == v.r.PathValue("name") })
	if i < 0 {
		return groupContent{}, errMissing()
	}
	return groupContent{Group: all[i], Wanted: v.field("members")}, nil
}

// groupDeeds are the actions on a group, by the name of their button, with the resulting notice and page.
var groupDeeds = map[string]struct {
	do           func(v *visit, name string) error
	notice, page string
}{
	"add": {do: (*visit).addMembers, notice: "members-added"},
	"remove": {do: func(v *visit, name string) error {
		return v.Auth.RemoveMembers(v.r.Context(), name, []string{v.field("member")})
	}, notice: "member-removed"},
	"delete": {do: func(v *visit, name string) error { return v.Auth.DeleteGroup(v.r.Context(), name) }, notice: "group-deleted", page: "people"},
}

func (v *visit) changeGroup() error {
	c, err := v.wantedGroup()
	if err != nil {
		return err
	}
	deed, ok := groupDeeds[v.field("do")]
	if !ok {
		return errMissing()
	}
	v.did("groups/"+v.field("do"), c.Name)
	if err := deed.do(v, c.Name); err != nil {
		return v.again("group", c, err)
	}
	if deed.page != "" {
		return v.done(deed.page, deed.notice)
	}
	return v.done("groups/"+c.Name, deed.notice)
}

// addMembers adds the users in the form, separated by commas or blanks.
func (v *visit) addMembers(name string) error {
	names := strings.FieldsFunc(v.field("members"), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(names) == 0 {
		return calendar.Errorf(calendar.Invalid, "", "enter the user names of the people to add")
	}
	_, err := v.Auth.AddMembers(v.r.Context(), name, names)
	return err
}

// did writes an administrator's action to the audit log.
func (v *visit) did(what, whom string) {
	if v.Did != nil {
		v.Did(v.r.Context(), what, whom)
	}
}
