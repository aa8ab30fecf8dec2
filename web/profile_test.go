package web_test

import (
	"encoding/xml"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// key is one of a dictionary in a property list, as Apple publishes it (apple/device-management, mdm/profiles).
type key struct {
	of       string
	required bool
	value    string
}

// profileKeys and accountKeys are those of TopLevel.yaml, and of CommonPayloadKeys.yaml with
// com.apple.caldav.account.yaml. An empty value is any.
var (
	profileKeys = map[string]key{
		"PayloadIdentifier": {of: "string", required: true}, "PayloadUUID": {of: "string", required: true},
		"PayloadType":    {of: "string", required: true, value: "Configuration"},
		"PayloadVersion": {of: "integer", required: true, value: "1"},
		"PayloadContent": {of: "array", required: true}, "PayloadDescription": {of: "string"},
		"PayloadDisplayName":  {of: "string"},
		"PayloadOrganization": {of: "string"}, "HasRemovalPasscode": {of: "boolean"}, "PayloadScope": {of: "string"},
	}
	accountKeys = map[string]key{
		"PayloadIdentifier": {of: "string", required: true}, "PayloadUUID": {of: "string", required: true},
		"PayloadType":        {of: "string", required: true, value: "com.apple.caldav.account"},
		"PayloadVersion":     {of: "integer", required: true, value: "1"},
		"PayloadDescription": {of: "string"}, "PayloadDisplayName": {of: "string"},
		"PayloadOrganization":      {of: "string"},
		"CalDAVAccountDescription": {of: "string"}, "CalDAVHostName": {of: "string", required: true},
		"CalDAVUsername": {of: "string"},
		"CalDAVPassword": {of: "string"}, "CalDAVPrincipalURL": {of: "string"}, "CalDAVUseSSL": {of: "boolean"},
		"CalDAVPort": {of: "integer"},
		"VPNUUID":    {of: "string"},
	}
)

// node is an element of a property list.
type node struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Nodes   []node `xml:",any"`
}

// kind is the type that an element is in Apple's words.
func (n node) kind() string {
	if name := n.XMLName.Local; name != "true" && name != "false" {
		return name
	}
	return "boolean"
}

// dictionary wants an element to be one that a table allows, and returns its values.
func (n node) dictionary(t *testing.T, table map[string]key) map[string]node {
	t.Helper()
	values := map[string]node{}
	if n.kind() != "dict" || len(n.Nodes)%2 != 0 {
		t.Fatalf("it is a %s of %d elements", n.kind(), len(n.Nodes))
	}
	for i := 0; i < len(n.Nodes); i += 2 {
		name, value := n.Nodes[i].Text, n.Nodes[i+1]
		want, known := table[name]
		if _, twice := values[name]; n.Nodes[i].kind() != "key" || !known || twice || value.kind() != want.of ||
			want.value != "" && value.Text != want.value {
			t.Errorf("%s: %s %q is not as Apple has it: %+v", name, value.kind(), value.Text, want)
		}
		if _, err := strconv.Atoi(value.Text); want.of == "integer" && err != nil {
			t.Errorf("%s is no number: %q", name, value.Text)
		}
		values[name] = value
	}
	for name, want := range table {
		if _, ok := values[name]; want.required && !ok {
			t.Errorf("%s is missing", name)
		}
	}
	return values
}

// A profile is one by Apple's published schema, and what comes of installing it again is the same account: the same
// identifiers. That of another app password has others.
func TestProfileKeepsApplesSchema(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		uuid, seen := regexp.MustCompile(`^[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$`),
			map[string]bool{}
		for range 2 {
			path := regexp.MustCompile(`/account/profile/[\w-]+`).FindString(b.post("connect/apple").body)
			again := map[string]bool{}
			for range 2 {
				text := h.browser().get(path).shows(http.StatusOK).body
				if !strings.HasPrefix(text, xml.Header+`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN"`) {
					t.Errorf("it begins %.120q", text)
				}
				var list node
				h.must(xml.Unmarshal([]byte(text), &list))
				if list.XMLName.Local != "plist" || len(list.Nodes) != 1 {
					t.Fatalf("it is %s with %d elements", list.XMLName.Local, len(list.Nodes))
				}
				top := list.Nodes[0].dictionary(t, profileKeys)
				content := top["PayloadContent"].Nodes
				if len(content) != 1 {
					t.Fatalf("it has %d accounts", len(content))
				}
				account := content[0].dictionary(t, accountKeys)
				for _, one := range []map[string]node{top, account} {
					if !uuid.MatchString(one["PayloadUUID"].Text) {
						t.Errorf("%q is no UUID", one["PayloadUUID"].Text)
					}
					again[one["PayloadIdentifier"].Text], again[one["PayloadUUID"].Text] = true, true
				}
			}
			if len(again) != 4 {
				t.Errorf("twice the same profile has the identifiers %v", again)
			}
			for id := range again {
				if seen[id] {
					t.Errorf("another profile has %s too", id)
				}
				seen[id] = true
			}
		}
	}, reachable)
}
