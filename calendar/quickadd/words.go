package quickadd

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// word is one word of the vocabulary. Several words may stand for the same part of the text.
type word struct {
	text     string
	raw      string
	from, to int
	// first is set for the first word of a part of the text; mark for punctuation.
	first, mark bool
}

// tokens match the units of the text: a quoted text, which is never read, a calendar in quotes, mail addresses, numbers
// and times with their marks, words, and marks.
var tokens = sync.OnceValue(func() *regexp.Regexp { return tokenPattern() })

// tokensWithDates also match 3/5/2027 and 3-5-2027.
var tokensWithDates = sync.OnceValue(func() *regexp.Regexp {
	return tokenPattern(`\d{1,2}/\d{1,2}(?:/(?:\d{4}|\d{2}))?`, `\d{1,2}-\d{1,2}-\d{4}`)
})

func tokenPattern(dates ...string) *regexp.Regexp {
	first := []string{
		`"[^"]*"`, `“[^“”]*”`, `„[^„“”]*[“”]`,
		`<?[^\s<>,;"@]+@[^\s<>,;"@]+\.[^\s<>,;"@]*[\pL\pN]>?`,
		`#[^\s#]+`, `\w+://\S+`,
		`\d{4}-\d{2}-\d{2}`,
	}
	last := []string{
		`\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})?`,
		`\d+(?:[:.,]\d+)*(?:[\pL]+(?:\.m\.?)?|\d)*\.?`,
		`[\pL\pM][\pL\pM\pN_'’.]*(?:-[\pL\pM\pN_'’.]+)*`,
		`[–—-]|@|\S`,
	}
	return regexp.MustCompile(strings.Join(slices.Concat(first, dates, last), "|"))
}

// split returns the words of a text.
func (p *parser) split(text string) []word {
	if len(text) > maxText {
		end := maxText
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	found := tokens().FindAllStringIndex(text, -1)
	if p.tongue.own {
		found = tokensWithDates().FindAllStringIndex(text, -1)
	}
	var list []word
	for i := 0; i < len(found); i++ {
		from, to := found[i][0], found[i][1]
		if means, n := p.tongue.phrase(text, found[i:]); n > 0 {
			i += n - 1
			list = append(list, expand(means, text[from:found[i][1]], from, found[i][1])...)
			continue
		}
		list = append(list, p.vocabulary(text, from, to)...)
	}
	return list
}

var (
	numberWithDot = regexp.MustCompile(`^\d+\.$`)
	dayRange      = regexp.MustCompile(`^(\pL{2,})-(\pL{2,})$`)
)

// vocabulary returns the words for one token.
func (p *parser) vocabulary(text string, from, to int) []word {
	raw := text[from:to]
	lower := strings.ReplaceAll(strings.ToLower(raw), "’", "'")
	first, _ := utf8.DecodeRuneInString(raw)
	if date := p.tongue.date(lower); date != "" {
		return []word{{text: date, raw: raw, from: from, to: to, first: true}}
	}
	switch {
	case strings.HasPrefix(raw, `"`) && len(raw) > 1, strings.HasPrefix(raw, "“"), strings.HasPrefix(raw, "„"):
		return []word{{text: "", raw: raw, from: from, to: to, first: true}}
	case strings.ContainsAny(raw, "#/") || strings.Contains(raw, "@") && len(raw) > 1:
		return []word{{text: lower, raw: raw, from: from, to: to, first: true}}
	case !unicode.IsLetter(first) && !unicode.IsDigit(first):
		if raw == "—" || raw == "–" {
			lower = "-"
		}
		return []word{{text: lower, raw: raw, from: from, to: to, first: true, mark: true}}
	}
	if m := dayRange.FindStringSubmatch(lower); m != nil {
		a, b := p.meaning(m[1]), p.meaning(m[2])
		if weekdays[a] && weekdays[b] {
			cut := strings.Index(raw, "-")
			return slices.Concat(expand([]string{a}, raw[:cut], from, from+cut),
				[]word{{text: "-", raw: "-", from: from + cut, to: from + cut + 1, first: true, mark: true}},
				expand([]string{b}, raw[cut+1:], from+cut+1, to))
		}
	}
	// A full stop belongs to a number in German, and to abbreviations.
	if cut := strings.TrimSuffix(lower, "."); cut != lower && (!p.tongue.german || !numberWithDot.MatchString(lower)) &&
		!numericDate.MatchString(lower) {
		words := expand(strings.Fields(p.meaning(cut)), raw, from, to)
		if p.meaning(cut) != cut || unicode.IsDigit(first) {
			return words
		}
		words = expand(strings.Fields(cut), raw[:len(raw)-1], from, to-1)
		return append(words, word{text: ".", raw: ".", from: to - 1, to: to, first: true, mark: true})
	}
	return expand(strings.Fields(p.meaning(lower)), raw, from, to)
}

func expand(texts []string, raw string, from, to int) []word {
	list := make([]word, len(texts))
	for i, text := range texts {
		list[i] = word{text: text, raw: raw, from: from, to: to, first: i == 0}
	}
	return list
}

// meaning returns the words of the vocabulary for a word of the language.
func (p *parser) meaning(lower string) string { return p.tongue.meaning(lower) }

// tidy joins the remains of a text to a title.
func tidy(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, mark := range []string{",", ";", "."} {
		text = strings.ReplaceAll(text, " "+mark+" ", mark+" ")
		text = strings.ReplaceAll(text, mark+" "+mark, mark)
		text = strings.TrimSuffix(text, " "+mark)
	}
	text = strings.TrimLeft(strings.Trim(text, " ,;-–—"), ": ")
	if n := len(text); n > 1 && text[0] == '"' && strings.Index(text[1:], `"`) == n-2 {
		text = text[1 : n-1]
	}
	return text
}

var weekdays = set("monday tuesday wednesday thursday friday saturday sunday " +
	"mon tue tues wed weds thu thur thurs fri sat sun")

// shortDays are weekdays that are also other words, in one of the languages. They count only beside a time or a
// preposition.
var shortDays = set("mon tue tues wed weds thu thur thurs fri sat sun")

var months = set("january february march april may june july august september october november december " +
	"jan feb mar apr jun jul aug sep sept oct nov dec")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

var english = sync.OnceValue(func() *tongue { return lexicon(englishWords) })

const englishWords = `
	1: one
	2: two
	3: three
	4: four
	5: five
	6: six
	7: seven
	8: eight
	9: nine
	10: ten
	11: eleven
	12: twelve
	am: a.m
	pm: p.m
	oclock: o'clock
	until: till, til, through, thru
	minute: minutes, min, mins
	hour: hours, hr, hrs, h
	day: days
	week: weeks, wk, wks
	month: months
	year: years
	times: occurrences, time, x
	every: each
	every day: daily
	every week: weekly
	every 2 week: biweekly, fortnightly
	every month: monthly
	every year: yearly, annually
	workday: weekday
	every workday: weekdays, workdays
	every monday: mondays
	every tuesday: tuesdays
	every wednesday: wednesdays
	every thursday: thursdays
	every friday: fridays
	every saturday: saturdays
	every sunday: sundays
	remind: reminder, alert, alarm
	before: beforehand, earlier, prior
	and: &
`

var deutsch = sync.OnceValue(func() *tongue {
	t := lexicon(deutscheWorte)
	t.german, t.half = true, true
	return t
})

const deutscheWorte = `
	1: eins
	a: ein, eine, einer, einem, einen, eines
	2: zwei
	3: drei
	4: vier
	5: fünf
	6: sechs
	7: sieben
	8: acht
	9: neun
	10: zehn
	11: elf
	12: zwölf
	1.5: anderthalb, eineinhalb
	half: halbe, halben, halb
	every: jeden, jede, jedes, jeder, jedem, alle
	other: zweiten, zweite, zweites
	first: ersten, erste
	third: dritten, dritte
	fourth: vierten, vierte
	last: letzten, letzte, letzter, letztes
	next: nächsten, nächste, nächster, nächstes, nächstem
	coming: kommenden, kommende, kommender
	this: diesen, diese, dieser, dieses, diesem
	today: heute
	tomorrow: morgen
	day after tomorrow: übermorgen
	yesterday: gestern
	morning: früh, vormittag, vormittags, morgens
	noon: mittag, mittags
	afternoon: nachmittag, nachmittags
	evening: abend, abends
	night: nacht, nachts
	midnight: mitternacht
	at: um, gegen
	on: am, an, den
	near: im, bei, beim, auf
	of: des
	from: von, vom, ab
	between: zwischen
	until: bis
	the end of: ende
	and: und, &
	for: für
	with: mit
	without: ohne
	to: zum, zur
	oclock: uhr
	minute: minuten, min, minütige
	hour: stunde, stunden, std, h
	day: tag, tage, tagen, tages
	week: woche, wochen
	month: monat, monate, monaten, monats
	year: jahr, jahre, jahren, jahres
	workday: werktag, arbeitstag, wochentag
	weekend: wochenende
	long: lang
	times: mal, male
	all day: ganztägig, ganztags
	every day: täglich
	every week: wöchentlich
	every month: monatlich
	every year: jährlich
	every workday: werktags, wochentags
	every monday: montags
	every tuesday: dienstags
	every wednesday: mittwochs
	every thursday: donnerstags
	every friday: freitags
	every saturday: samstags
	every sunday: sonntags
	monday: montag
	tuesday: dienstag
	wednesday: mittwoch
	thursday: donnerstag
	friday: freitag
	saturday: samstag, sonnabend
	sunday: sonntag
	mon: mo
	tue: di
	wed: mi
	thu: do
	fri: fr
	sat: sa
	sun: so
	monday evening: montagabend
	tuesday evening: dienstagabend
	wednesday evening: mittwochabend
	thursday evening: donnerstagabend
	friday evening: freitagabend
	saturday evening: samstagabend
	sunday evening: sonntagabend
	monday afternoon: montagnachmittag
	tuesday afternoon: dienstagnachmittag
	wednesday afternoon: mittwochnachmittag
	thursday afternoon: donnerstagnachmittag
	friday afternoon: freitagnachmittag
	saturday afternoon: samstagnachmittag
	sunday afternoon: sonntagnachmittag
	january: januar, jänner
	february: februar
	march: märz
	april: april
	may: mai
	june: juni
	july: juli
	october: oktober, okt
	december: dezember, dez
	mar: mär
	easter: ostern
	remind: erinnere, erinnern, erinner, erinnerung
	me: mich
	before: vorher, davor, zuvor
	invite: einladen
	starting: beginnend
	past: nach
	quarter: viertel
	(place): im, bei, beim, am, auf
	(article): der, dem, den, die
`
