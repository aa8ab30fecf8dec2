package caldav

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// kindNames are the columns of the printed tables.
var kindNames = []struct {
	kind kind
	name string
}{
	{atEntrance, "entrance"},
	{atRoot, "root"},
	{atPrincipals, "principals"},
	{atPrincipal, "principal"},
	{atHomes, "homes"},
	{atHome, "home"},
	{atCalendar, "calendar"},
	{atObject, "object"},
	{atBoxes, "boxes"},
	{atBox, "box"},
	{atNotice, "notice"},
	{atInbox, "inbox"},
	{atItem, "message"},
	{atOutbox, "outbox"},
}

func (k kind) words() string {
	if k == everything {
		return "everything"
	}
	var words []string
	for _, row := range kindNames {
		if k&row.kind != 0 {
			words = append(words, row.name)
		}
	}
	return strings.Join(words, ", ")
}

// RFCTable prints the tables of this package as docs/rfc.md.
func RFCTable() string {
	var b strings.Builder
	b.WriteString("# What the CalDAV door speaks\n\n" +
		"Printed from the tables in `caldav/` by `go test ./caldav -run TestRFCTable -update`; a test keeps it true.\n\n" +
		"`DAV: " + davClasses + "`\n")
	printTable(&b, "Addresses", []string{"address", "kind"}, addressRows())
	printTable(&b, "Methods", []string{"method", "works on", "takes", "defined in"}, methodRows())
	printTable(&b, "Reports", []string{"report", "works on", "defined in"}, reportRows())
	printTable(&b, "Properties", []string{"property", "stands on", "set", "in allprop", "defined in"}, propertyRows())
	b.WriteString("\nAny other property can be set on principals, homes, calendars and objects, and is kept as it was written.\n")
	b.WriteString("\n## Public links\n\n`/" + strings.Join(linkPath[:], "/") + "/{link}/{title}.ics` and `.ifb` need no login. They take " + linkMethods +
		", have no members, and tell by PROPFIND these properties and no others:\n\n")
	for _, p := range linkProperties() {
		b.WriteString("- `" + tagOf(p.name) + "`\n")
	}
	b.WriteString("\n## WebDAV-Push\n\nWhere the server has an address (`BASE_URL`) and `PUSH` is on, `" + pushClass + "` stands in the DAV header and a `push-register` that is POSTed to a\n" +
		"home or a calendar registers a program (namespace `" + pushNS + "`). Where this differs from the draft, and from what DAVx⁵ does:\n")
	printTable(&b, "From the draft of WebDAV-Push", []string{"the draft", "here"}, deviationRows())
	printTable(&b, "Privileges", []string{"privilege", "on"}, privilegeRows())
	printTable(&b, "Conditions of the calendar rules", []string{"condition", "status"}, conditionRows())
	return b.String()
}

func printTable(b *strings.Builder, title string, head []string, rows [][]string) {
	fmt.Fprintf(b, "\n## %s\n\n| %s |\n|%s\n", title, strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
	for _, row := range rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
}

func addressRows() [][]string {
	var rows [][]string
	for _, a := range Addresses() {
		rows = append(rows, []string{"`" + a.Name + "`", a.kind.words()})
	}
	return rows
}

func methodRows() [][]string {
	var rows [][]string
	for _, m := range methods() {
		rows = append(rows, []string{m.name, m.on.words(), "`" + m.needs + "`", m.source})
	}
	return rows
}

func reportRows() [][]string {
	var rows [][]string
	for _, r := range reports() {
		rows = append(rows, []string{"`" + tagOf(r.name) + "`", r.on.words(), r.source})
	}
	return rows
}

func propertyRows() [][]string {
	var rows [][]string
	for _, p := range properties() {
		if p.flags&inReports != 0 {
			continue
		}
		set, in := "", ""
		switch {
		case p.set != nil && p.flags&atCreation != 0:
			set = "when a calendar is made"
		case p.set != nil:
			set = "on calendars"
		case p.arrange != nil:
			set = "on inboxes"
		}
		if p.flags&allprop != 0 {
			in = "yes"
		}
		rows = append(rows, []string{"`" + cmp.Or(tagOf(p.name), p.name.Space+" "+p.name.Local) + "`", p.on.words(), set, in, p.source})
	}
	return rows
}

func privilegeRows() [][]string {
	var names []string
	on := map[string]kind{}
	for _, p := range privileges {
		if on[p.tag] == 0 {
			names = append(names, p.tag)
		}
		on[p.tag] |= p.on
	}
	var rows [][]string
	for _, n := range names {
		rows = append(rows, []string{"`" + n + "`", on[n].words()})
	}
	return rows
}

func conditionRows() [][]string {
	rules := slices.SortedFunc(maps.Keys(conditions), func(a, b calendar.Rule) int {
		return cmp.Compare(conditions[a].tag, conditions[b].tag)
	})
	var rows [][]string
	for _, r := range rules {
		rows = append(rows, []string{"`" + conditions[r].tag + "`", fmt.Sprint(conditions[r].status)})
	}
	return rows
}

// deviationRows list the deviations from the draft of WebDAV-Push, with reasons.
func deviationRows() [][]string {
	return [][]string{
		{"`trigger` says what to tell of", "a registration without one is told of `content-update`: DAVx⁵ sends none. One with only `property-update` is refused with `no-supported-trigger`; properties that change are told as content"},
		{"`content-encoding` names the encryption", "one without is `aes128gcm`: DAVx⁵ sends none. Any other is `invalid-subscription`"},
		{"`subscription-public-key` and `auth-secret` belong to a subscription", "one without is `invalid-subscription`, since nothing could be encrypted for it. DAVx⁵ sends none where its push service gave it none, and takes no message that is not encrypted"},
		{"`vapid-public-key` may be left out", "it always stands there: DAVx⁵ registers with no server that has none"},
		{"the server sets how long a registration lasts", "from 3 to 14 days; DAVx⁵ asks for 3, looks each day, and renews what ends within two"},
		{"the body of a message is `application/xml`", "it is `application/octet-stream`, since it is encrypted; programs see neither"},
		{"messages tell of `property-update`, and of a new key", "messages are `content-update` with `D:sync-token` (of a home without); DAVx⁵ reads `topic` alone. The key stays as long as the store does"},
		{"`Push-Dont-Notify: *` keeps a change from everybody", "it keeps it from the caller's own registrations: nobody makes others miss a change"},
		{"`Push-Dont-Notify` works with every method", "it counts where one request makes one change of the calendar at its address, as `PUT`, `DELETE` and `POST` do"},
		{"inbox, outbox and principals may tell of changes", "homes and calendars do. A topic is of one user and one calendar"},
		{"a registration may be asked for its state", "its address takes `DELETE`"},
	}
}
