package publish

import (
	"iter"
	"net/url"
	"slices"
	"strings"
)

// Texts may be long and hostile. Each function here reads a text once, and compares each place with the few phrases
// that begin with its byte.

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

// callPrograms are the programs that hosts are named after, such as bbb2.school.example.
var callPrograms = []string{"jitsi", "meet", "bbb", "bigbluebutton", "videoconf", "webconf"}

// callPaths begin the path at other hosts. Nextcloud Talk has /call/ and a letter.
var callPaths = []string{"/bigbluebutton", "/html5client/", "/meetup-join/"}

// callParameters are the parameters of links that contain a password.
var callParameters = []string{"?pwd=", "&pwd=", "?passcode=", "&passcode="}

var (
	services = newPhrases(pattern{callHosts, beforeHost, afterHost})

	// meetingIDs finds the number of a meeting, which needs no link, in lower case.
	meetingIDs = newPhrases(
		pattern{[]string{
			"meeting", "webinar", "event", "konferenz", "meeting-raum", "meetingraum", "besprechungs", "sitzungs",
			"reunion", "réunion", "reunión", "riunione", "vergader", "spotkania", "møde", "möte",
		}, beforeWord, oneOf("id", "kennung", "nummer", "number", "key")},
		pattern{[]string{"zoom"}, beforeWord, oneOf("id")},
		pattern{[]string{"id ", "número ", "numéro "}, beforeWord, ofMeeting},
		pattern{[]string{"会议号", "会议id", "会议 id", "ミーティングid", "ミーティング id"}, nil, nil})

	// passwords finds the name of a call's password, in the languages of the services, in lower case.
	passwords = newPhrases(
		pattern{[]string{
			"passwor", "passcode", "passphrase", "pass word", "pass code", "pass phrase", "pass-word", "pass-code",
			"pass-phrase", "kennwort", "kenncode", "zugangscode", "zugriffscode", "teilnehmercode", "sicherheitscode",
			"mot de passe", "code d'accès", "code d’accès", "code secret", "contraseña", "código de acceso",
			"clave de acceso", "senha", "codice di accesso", "codice d'accesso", "codice d’accesso", "wachtwoord",
			"toegangscode", "hasło", "kod dostępu", "lösenord", "adgangskode", "passord", "salasana", "пароль",
			"код доступа", "パスワード", "パスコード", "密码", "密碼", "암호",
		}, nil, nil},
		pattern{[]string{"access", "meeting", "host", "security", "attendee"}, nil, oneOf("code", "key")},
		pattern{[]string{"pwd"}, beforeWord, endOfWord},
		pattern{[]string{"pin"}, beforeWord, hasNumber})
)

// pattern describes phrases by their first words. Functions accept the previous byte and the following text; nil
// accepts everything.
type pattern struct {
	starts []string
	before func(byte) bool
	after  func(string) bool
}

type phrase struct {
	start string
	pattern
}

// phrases has each phrase at its first byte.
type phrases [256][]*phrase

func newPhrases(patterns ...pattern) *phrases {
	var all phrases
	for _, p := range patterns {
		for _, start := range p.starts {
			all[start[0]] = append(all[start[0]], &phrase{start, p})
		}
	}
	return &all
}

// in reports whether a text has one of the phrases.
func (all *phrases) in(text string) bool {
	for i := range len(text) {
		for _, p := range all[text[i]] {
			after, found := strings.CutPrefix(text[i:], p.start)
			if found && (i == 0 || p.before == nil || p.before(text[i-1])) && (p.after == nil || p.after(after)) {
				return true
			}
		}
	}
	return false
}

func beforeHost(b byte) bool { return strings.IndexByte("/.@=:&?", b) >= 0 }

func afterHost(text string) bool { return text == "" || strings.IndexByte("/:?#&.,;)]", text[0]) >= 0 }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func inWord(b byte) bool { return 'a' <= b && b <= 'z' || isDigit(b) || b == '_' }

func beforeWord(b byte) bool { return !inWord(b) }

func endOfWord(text string) bool { return text == "" || !inWord(text[0]) }

// oneOf accepts a text that begins with one of the words, after one blank or hyphen at most.
func oneOf(words ...string) func(string) bool {
	return func(text string) bool {
		if text != "" && (text[0] == ' ' || text[0] == '-') {
			text = text[1:]
		}
		return slices.ContainsFunc(words, func(one string) bool {
			after, found := strings.CutPrefix(text, one)
			return found && endOfWord(after)
		})
	}
}

// ofMeeting accepts "de la reunión" and its like.
func ofMeeting(text string) bool {
	text = withoutOne(text, "de ", "da ", "della ", "du ")
	text = withoutOne(text, "la ", "l'", "l’")
	return withoutOne(text, "reunión", "réunion", "reunião", "riunione", "conférence") != text
}

func withoutOne(text string, starts ...string) string {
	for _, start := range starts {
		if after, found := strings.CutPrefix(text, start); found {
			return after
		}
	}
	return text
}

// hasNumber accepts ": 12" and " 12".
func hasNumber(text string) bool {
	after := strings.TrimLeft(text, " \t\r\n\f")
	return endOfWord(text) && after != "" && (after[0] == ':' || isDigit(after[0]))
}

// linkWords returns the parts of a text that may be links, and their places.
func linkWords(text string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		start := 0
		for i := range len(text) + 1 {
			if i < len(text) && strings.IndexByte(" \t\r\n\f<>\"'", text[i]) < 0 {
				continue
			}
			if i > start && !yield(text[start:i], start) {
				return
			}
			start = i + 1
		}
	}
}

// isCall reports whether a word is a link to a call. It also decodes the word, because mail programs put links into
// links.
func isCall(word string) bool {
	if !strings.ContainsAny(word, "./=%") {
		return false
	}
	word = strings.ToLower(word)
	if toCall(word) {
		return true
	}
	decoded, err := url.PathUnescape(word)
	return err == nil && decoded != word && toCall(decoded)
}

// toCall finds a service's host, a host that is named after a program, or a path or parameter of calls.
func toCall(link string) bool {
	if services.in(link) || namedAfterProgram(link) || slices.ContainsFunc(callParameters, func(p string) bool {
		return strings.Contains(link, p)
	}) {
		return true
	}
	for {
		i := strings.Index(link, "//")
		if i < 0 {
			return false
		}
		if address := link[i+2:]; namedAfterProgram(address) || hasCallPath(address) {
			return true
		}
		link = link[i+1:]
	}
}

// namedAfterProgram reports whether an address without its scheme has a host like bbb2.school.example.
func namedAfterProgram(address string) bool {
	host, _, hasPath := strings.Cut(address, "/")
	if !hasPath || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
		return false
	}
	for {
		label, rest, more := strings.Cut(host, ".")
		if !more || label == "" || rest == "" {
			return false
		}
		if slices.ContainsFunc(callPrograms, func(program string) bool {
			number, found := strings.CutPrefix(label, program)
			return found && strings.Trim(number, "0123456789-") == ""
		}) {
			return true
		}
		host = rest
	}
}

func hasCallPath(address string) bool {
	i := strings.IndexByte(address, '/')
	if i <= 0 {
		return false
	}
	path := address[i:]
	if slices.ContainsFunc(callPaths, func(start string) bool { return strings.HasPrefix(path, start) }) {
		return true
	}
	room, found := strings.CutPrefix(strings.TrimPrefix(path, "/index.php"), "/call/")
	return found && room != "" && room[0] != '_' && inWord(room[0])
}

// dialsIn finds a telephone number that is followed by the number of a meeting: +16694449171,,8123#.
func dialsIn(text string) bool {
	const none, digit, comma, number = 0, 1, 2, 3
	state := none
	for i := range len(text) {
		switch b := text[i]; {
		case state == number && b == '#':
			return true
		case state == number && (isDigit(b) || b == ',' || b == '*'):
		case isDigit(b) && state == comma:
			state = number
		case isDigit(b):
			state = digit
		case b == ',' && (state == digit || state == comma):
			state = comma
		default:
			state = none
		}
	}
	return false
}
