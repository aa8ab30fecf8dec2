package publish

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// callHosts are the hosts of services for calls, with all hosts below them.
var callHosts = []string{
	"zoom.us", "zoom.com", "zoomgov.com", "zoomcrc.com", // Zoom
	"teams.microsoft.com", "teams.microsoft.us", "teams.live.com", "teams.cloud.microsoft",
	"join.skype.com", "meet.lync.com", "aka.ms/jointeamsmeeting", // Microsoft
	"meet.google.com", "tel.meet", "g.co/meet", "hangouts.google.com", // Google
	"webex.com", "webex.com.cn", // Cisco
	"meet.jit.si", "8x8.vc", // Jitsi
	"gotomeeting.com", "gotomeet.me", "gotowebinar.com", "goto.com", "join.me", // GoTo
	"whereby.com", "bluejeans.com", "chime.aws", "ringcentral.com", "facetime.apple.com", "discord.gg",
	"app.slack.com/huddle", "voovmeeting.com", "meeting.tencent.com", "vc.feishu.cn", "meetings.dialpad.com",
	"livestorm.co", "demio.com", "meetings.vonage.com", "messenger.com/groupcall", "m.me/j", "call.whatsapp.com",
	"webconf.numerique.gouv.fr", "visio.numerique.gouv.fr",
}

// callLink finds a link to a call in lower case: one of callHosts, a host that is named after its program, or a path
// that such a program has.
var callLink = regexp.MustCompile(`(?:^|[/.@=:&?])(?:` + quoted(callHosts) + `)(?:$|[/:?#&.,;)\]])` +
	`|(?:^|//)(?:[a-z0-9-]+\.)*(?:jitsi|meet|bbb|bigbluebutton|videoconf|webconf)[0-9-]*\.[a-z0-9.-]+/` +
	`|//[^/]+(?:/index\.php)?/call/[a-z0-9]` + // Nextcloud Talk
	`|//[^/]+(?:/bigbluebutton|/html5client/|/meetup-join/)` +
	`|[?&](?:pwd|passcode)=`)

// passwordWords name the password of a call, in the languages of the services.
var passwordWords = []string{
	`pass[ -]?(?:word|code|phrase)`, `\bpwd\b`, `(?:access|meeting|host|security|attendee)[ -]?(?:code|key)\b`,
	`\bPIN\b\s*[:\d]`,
	"passwor", "kennwort", "kenncode", "zugangscode", "zugriffscode", "teilnehmercode", "sicherheitscode",
	"mot de passe", "code d['’]accès", "code secret", "contraseña", "código de acceso", "clave de acceso", "senha",
	"codice di accesso", "codice d['’]accesso", "wachtwoord", "toegangscode", "hasło", "kod dostępu", "lösenord",
	"adgangskode", "passord", "salasana", "пароль", "код доступа", "パスワード", "パスコード", "密码", "密碼", "암호",
}

var (
	// address is text that may be a link.
	address = regexp.MustCompile("[^\\s<>\"']+")
	// meetingID finds the number of a meeting, which needs no link.
	meetingID = regexp.MustCompile(`(?i)\b(?:(?:meeting|webinar|event|konferenz|meeting-?raum|besprechungs|sitzungs|` +
		`reunion|réunion|reunión|riunione|vergader|spotkania|møde|möte)[ -]?(?:id|kennung|nummer|number|key)\b` +
		`|(?:id|número|numéro) (?:de |da |della |du )?(?:la |l['’])?(?:reunión|réunion|reunião|riunione|conférence)` +
		`|zoom[ -]?id\b)|会议号|会议 ?ID|ミーティング ?ID`)
	// dialIn finds a telephone number that is followed by the number of a meeting.
	dialIn   = regexp.MustCompile(`\d,+\d[\d,*#]*#`)
	password = regexp.MustCompile(`(?i)` + strings.Join(passwordWords, "|"))
	// emptied finds the brackets and blanks around a removed link.
	emptied = regexp.MustCompile(`<\s*>|\(\s*\)|\[\s*\]`)
	blanks  = regexp.MustCompile(`[ \t]{2,}`)
)

func quoted(list []string) string {
	all := make([]string, len(list))
	for i, one := range list {
		all[i] = regexp.QuoteMeta(one)
	}
	return strings.Join(all, "|")
}

// isCall reports whether a word is a link to a call. It also decodes the word, because mail programs put links into
// links.
func isCall(word string) bool {
	word = strings.ToLower(word)
	decoded, err := url.PathUnescape(word)
	return callLink.MatchString(word) || err == nil && callLink.MatchString(decoded)
}

// hasCall reports whether a text gives access to a call.
func hasCall(text string) bool {
	return meetingID.MatchString(text) || dialIn.MatchString(text) ||
		slices.ContainsFunc(address.FindAllString(text, -1), isCall)
}

// written are the properties that may contain links to calls.
var written = []string{"SUMMARY", "DESCRIPTION", "LOCATION", "URL", "CATEGORIES", "RESOURCES"}

// hideCalls removes links to calls from the text of an object's parts. If the object has a call, it also removes the
// lines with passwords: everyone who has the link could join.
func hideCalls(parts []*ical.Component) {
	if !slices.ContainsFunc(parts, joinable) {
		return
	}
	for _, c := range parts {
		for _, p := range slices.Collect(c.Properties()) {
			if !slices.Contains(written, p.Name()) {
				continue
			}
			text := p.Text()
			left := withoutCalls(text)
			switch {
			case left == text:
			case left == "" || p.Name() == "URL":
				c.RemoveProperty(p)
			default:
				p.SetText(left)
			}
		}
	}
}

// joinable reports whether a component has a call: in a property, or in a text.
func joinable(c *ical.Component) bool {
	for p := range c.Properties() {
		if p.Name() == "CONFERENCE" || hasCall(p.Text()) {
			return true
		}
	}
	return false
}

// withoutCalls returns a text without links to calls and without the lines that have passwords or numbers of
// meetings. If such a line ends with its label, the next line with text has the value.
func withoutCalls(text string) string {
	var kept []string
	label := false
	for line := range strings.SplitSeq(text, "\n") {
		line = withoutLinks(line)
		switch said := strings.TrimSpace(line); {
		case label && said != "":
			label = false
		case meetingID.MatchString(line), password.MatchString(line), dialIn.MatchString(line):
			label = strings.HasSuffix(said, ":")
		default:
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

func withoutLinks(line string) string {
	left := address.ReplaceAllStringFunc(line, func(word string) string {
		if isCall(word) {
			return ""
		}
		return word
	})
	if left == line {
		return line
	}
	left = blanks.ReplaceAllString(emptied.ReplaceAllString(left, ""), " ")
	return strings.Trim(left, " \t,;|-–")
}
