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
	b.WriteString("# CalDAV reference\n\n" +
		"Generated from the tables in `caldav/` by `go test ./caldav -run TestRFCTable -update`, and checked by that " +
		"test.\n\n" +
		"`DAV: " + davClasses + "`\n")
	printTable(&b, "Addresses", []string{"address", "kind"}, addressRows())
	printTable(&b, "Methods", []string{"method", "works on", "takes", "defined in"}, methodRows())
	printTable(&b, "Reports", []string{"report", "works on", "defined in"}, reportRows())
	printTable(&b, "Properties", []string{"property", "on", "set", "in allprop", "defined in"}, propertyRows())
	b.WriteString("\nAny other property can be set on principals, homes, calendars and objects, and is stored as " +
		"written.\n")
	b.WriteString("\n## Public links\n\n`/" + strings.Join(linkPath[:], "/") +
		"/{link}/{title}.ics` and `.ifb` need no login. They support " + linkMethods +
		", and have no members.\nPROPFIND returns only these properties:\n\n")
	for _, p := range linkProperties() {
		b.WriteString("- `" + vocabulary.Tag(p.name) + "`\n")
	}
	b.WriteString("\n## WebDAV-Push\n\nWith `BASE_URL` set and `PUSH` on, the DAV header includes `" + pushClass +
		"`. A client registers by POSTing a `push-register` to a home or\n" +
		"calendar (namespace `" + pushNS + "`).\n")
	printTable(&b, "Differences from the WebDAV-Push draft", []string{"draft", "this server"}, deviationRows())
	printTable(&b, "Privileges", []string{"privilege", "on"}, privilegeRows())
	printTable(&b, "Preconditions", []string{"condition", "status"}, conditionRows())
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
	for _, m := range methodTable() {
		rows = append(rows, []string{m.name, m.on.words(), "`" + m.needs + "`", m.source})
	}
	return rows
}

func reportRows() [][]string {
	var rows [][]string
	for _, r := range reportTable() {
		rows = append(rows, []string{"`" + vocabulary.Tag(r.name) + "`", r.on.words(), r.source})
	}
	return rows
}

func propertyRows() [][]string {
	var rows [][]string
	for _, p := range propertyTable() {
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
		rows = append(rows, []string{
			"`" + cmp.Or(vocabulary.Tag(p.name), p.name.Space+" "+p.name.Local) + "`", p.on.words(), set, in, p.source,
		})
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
		{"`trigger` names the changes to notify of", "without it: `content-update`, because DAVx⁵ sends none. Only " +
			"`property-update`: refused with `no-supported-trigger`; changed properties count as content"},
		{"`content-encoding` names the encryption", "without it: `aes128gcm`, because DAVx⁵ sends none. Others: " +
			"`invalid-subscription`"},
		{"`subscription-public-key` and `auth-secret` are part of a " +
			"subscription", "without them: `invalid-subscription`, because nothing could be encrypted. DAVx⁵ omits " +
			"them if its push service gave it none, and accepts only encrypted messages"},
		{"`vapid-public-key` is optional", "always present: DAVx⁵ registers with no server that lacks it"},
		{"the server sets the lifetime of a registration", "3 to 14 days. DAVx⁵ asks for 3, checks daily, and renews " +
			"within the last two"},
		{"the body of a message is `application/xml`", "`application/octet-stream`, because it is encrypted; " +
			"programs see neither"},
		{"messages report `property-update` and a new key", "messages are `content-update` with `D:sync-token` " +
			"(without it for a home); DAVx⁵ reads only `topic`. The key lives as long as the store"},
		{"`Push-Dont-Notify: *` suppresses all notifications", "it suppresses only the caller's own registrations, " +
			"so that no client makes others miss a change"},
		{"`Push-Dont-Notify` works with every method", "with methods that make one change of the calendar in the " +
			"address: `PUT`, `DELETE`, `POST`"},
		{"inbox, outbox and principals can send notifications", "only homes and calendars. A topic belongs to one " +
			"user and one calendar"},
		{"a registration's state can be queried", "its address supports only `DELETE`"},
	}
}
