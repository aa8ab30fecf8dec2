package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
)

// profile is a configuration profile that sets up a calendar account on an Apple device. Its identifiers derive from
// its app password: installing it again replaces the account, and a profile with another app password adds one.
type profile struct {
	// Host and Port are the server's; TLS is set for https.
	Host string
	Port int
	TLS  bool
	// Principal is the path of the user's principal.
	Principal string
	// Description is the account's name on the device.
	Description, Username string
	// About describes the effect of the profile.
	About string
	// Password is an app password made for this profile; ID is the id of its token.
	Password, ID string
}

// profileType is the media type of configuration profiles.
const profileType = "application/x-apple-aspen-config"

// text writes the profile as a property list.
func (p profile) text() []byte {
	account := plist{
		{"PayloadType", "com.apple.caldav.account"},
		{"PayloadVersion", 1},
		{"PayloadIdentifier", p.identifier() + ".account"},
		{"PayloadUUID", p.uuid("account")},
		{"PayloadDisplayName", p.Description},
		{"CalDAVAccountDescription", p.Description},
		{"CalDAVHostName", p.Host},
		{"CalDAVPort", p.Port},
		{"CalDAVUseSSL", p.TLS},
		{"CalDAVPrincipalURL", p.Principal},
		{"CalDAVUsername", p.Username},
		{"CalDAVPassword", p.Password},
	}
	top := plist{
		{"PayloadType", "Configuration"},
		{"PayloadVersion", 1},
		{"PayloadIdentifier", p.identifier()},
		{"PayloadUUID", p.uuid("profile")},
		{"PayloadDisplayName", p.Description},
		{"PayloadDescription", p.About},
		{"PayloadContent", []plist{account}},
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.WriteString(
		`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n",
	)
	b.WriteString(`<plist version="1.0">` + "\n")
	top.write(&b)
	b.WriteString("</plist>\n")
	return b.Bytes()
}

// identifier returns the profile's identifier on the device.
func (p profile) identifier() string { return "caldav-mcp-server." + p.ID }

// uuid returns the same UUID for the same app password and part (RFC 9562 §5.8).
func (p profile) uuid(part string) string {
	sum := sha256.Sum256([]byte(p.Host + "\x00" + p.ID + "\x00" + part))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%X-%X-%X-%X-%X", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// plist is a dictionary of a property list, in order.
type plist []struct {
	key   string
	value any
}

func (d plist) write(b *bytes.Buffer) {
	b.WriteString("<dict>\n")
	for _, entry := range d {
		b.WriteString("<key>" + entry.key + "</key>")
		switch p := entry.value.(type) {
		case bool:
			fmt.Fprintf(b, "<%t/>\n", p)
		case int:
			fmt.Fprintf(b, "<integer>%d</integer>\n", p)
		case []plist:
			b.WriteString("<array>\n")
			for _, d := range p {
				d.write(b)
			}
			b.WriteString("</array>\n")
		case string:
			b.WriteString("<string>")
			_ = xml.EscapeText(b, []byte(p)) // a buffer never fails
			b.WriteString("</string>\n")
		}
	}
	b.WriteString("</dict>\n")
}
