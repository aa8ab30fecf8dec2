package quickadd_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// sketch describes a language for the oracle. In its texts, {w} is a weekday, {d} a day, {n} and {m} the number and
// the name of a month, {y} a year and {a} a number of days.
type sketch struct {
	titles, weekdays, months string
	dates                    []string // with a year
	soon                     [3]string
	week, days, yearless     []string
	reminders                []phrase[string]
	joins                    [3]string
	clocks                   []string // {h} without and {hh} with a leading zero, {mm}; those without minutes last
	repeats                  []phrase[string]
	times, until, length     string
}

func (s sketch) tongue() tongue {
	weekdays, months := strings.Split(s.weekdays, " "), strings.Split(s.months, " ")
	fill := func(text string, d time.Time, ahead int) string {
		return strings.NewReplacer("{w}", weekdays[d.Weekday()], "{d}", strconv.Itoa(d.Day()), "{n}",
			strconv.Itoa(int(d.Month())), "{m}", months[d.Month()-1], "{y}", strconv.Itoa(d.Year()), "{a}",
			strconv.Itoa(ahead)).Replace(text)
	}
	l := tongue{
		titles: strings.Split(s.titles, ", "), weekdays: weekdays, months: months,
		places:    []phrase[string]{{"@ Lido", "Lido"}},
		reminders: s.reminders, joins: s.joins, times: s.times, until: s.until, length: s.length,
	}
	l.day = func(rng *rand.Rand, d, now time.Time) string {
		ahead := int(d.Sub(now.Truncate(24*time.Hour)).Hours() / 24)
		forms := append([]string{"{iso}"}, s.dates...)
		switch {
		case ahead < 3:
			forms = append(forms, s.soon[ahead])
		case ahead < 7:
			forms = append(forms, s.week...)
		}
		if ahead > 1 {
			forms = append(forms, s.days...)
		}
		if ahead < 365 {
			forms = append(forms, s.yearless...)
		}
		return strings.ReplaceAll(fill(forms[rng.IntN(len(forms))], d, ahead), "{iso}", d.Format("2006-01-02"))
	}
	l.clock = func(rng *rand.Rand, hour, minute int) string {
		forms := s.clocks
		if minute != 0 {
			forms = forms[:2]
		}
		return strings.NewReplacer("{h}", strconv.Itoa(hour), "{hh}", fmt.Sprintf("%02d", hour), "{mm}",
			fmt.Sprintf("%02d", minute)).Replace(forms[rng.IntN(len(forms))])
	}
	l.repeats = func(d time.Weekday) []phrase[string] {
		list := make([]phrase[string], len(s.repeats))
		for i, r := range s.repeats {
			list[i] = phrase[string]{
				strings.ReplaceAll(r.text, "{w}", weekdays[d]),
				strings.ReplaceAll(r.meaning, "{w}", strings.ToUpper(d.String()[:2])),
			}
		}
		return list
	}
	return l
}

// rules are the meanings of the repeats of a sketch, in this order.
func rules(texts ...string) []phrase[string] {
	meanings := []string{
		"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY", "FREQ=MONTHLY", "FREQ=YEARLY", "FREQ=WEEKLY;INTERVAL=2",
		"FREQ=WEEKLY;BYDAY={w}",
	}
	list := make([]phrase[string], len(texts))
	for i, text := range texts {
		list[i] = phrase[string]{text, meanings[i]}
	}
	return list
}

func before(minutes, day string) []phrase[string] {
	return []phrase[string]{{minutes, "10m0s"}, {day, "24h0m0s"}}
}

var sketches = map[string]sketch{
	"es": {
		titles:   "Comida con Ana, Reunión de equipo, Llamar a Ben, Comprar pan y leche, Plan B, Versión 2, Ver el mar",
		weekdays: "domingo lunes martes miércoles jueves viernes sábado",
		months:   "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		dates:    []string{"{d} de {m} de {y}", "el {d} de {m} de {y}", "el {w} {d} de {m} de {y}", "{d}/{n}/{y}"},
		soon:     [3]string{"hoy", "mañana", "pasado mañana"},
		week:     []string{"el {w}", "{w}"}, days: []string{"en {a} días", "dentro de {a} días"},
		yearless:  []string{"el {d} de {m}", "{d} {m}", "{d}/{n}"},
		reminders: before("recordatorio 10 minutos antes", "avísame 1 día antes"),
		joins:     [3]string{"de ", " a ", "a las "}, clocks: []string{"{hh}:{mm}", "{h}:{mm}h", "{h}h"},
		repeats: rules("cada día", "cada 3 días", "cada semana", "mensualmente", "cada año", "cada dos semanas",
			"todos los {w}"),
		times: "%d veces", until: "hasta el %s", length: "durante %d minutos",
	},
	"fr": {
		titles:   "Déjeuner avec Ana, Réunion d'équipe, Appeler Ben, Plan B, Version 2, Visite du musée",
		weekdays: "dimanche lundi mardi mercredi jeudi vendredi samedi",
		months:   "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		dates:    []string{"{d} {m} {y}", "le {d} {m} {y}", "le {w} {d} {m} {y}", "{d}/{n}/{y}"},
		soon:     [3]string{"aujourd’hui", "demain", "après-demain"},
		week:     []string{"{w}"}, days: []string{"dans {a} jours"},
		yearless:  []string{"le {d} {m}", "{d} {m}", "{d}/{n}"},
		reminders: before("rappel 10 minutes avant", "rappelle-moi 1 jour avant"),
		joins:     [3]string{"de ", " à ", "à "}, clocks: []string{"{hh}:{mm}", "{h}h{mm}", "{h}h"},
		repeats: rules("tous les jours", "tous les 3 jours", "chaque semaine", "chaque mois", "chaque année",
			"toutes les deux semaines", "chaque {w}"),
		times: "%d fois", until: "jusqu'au %s", length: "pendant %d minutes",
	},
	"it": {
		titles:   "Pranzo con Ana, Riunione di squadra, Comprare il pane, Piano B, Versione 2, Vedere il mare",
		weekdays: "domenica lunedì martedì mercoledì giovedì venerdì sabato",
		months: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre " +
			"dicembre",
		dates: []string{"{d} {m} {y}", "il {d} {m} {y}", "{w} {d} {m} {y}", "{d}/{n}/{y}"},
		soon:  [3]string{"oggi", "domani", "dopodomani"},
		week:  []string{"{w}"}, days: []string{"tra {a} giorni", "fra {a} giorni"},
		yearless:  []string{"il {d} {m}", "{d} {m}", "{d}/{n}"},
		reminders: before("promemoria 10 minuti prima", "ricordami 1 giorno prima"),
		joins:     [3]string{"dalle ", " alle ", "alle "}, clocks: []string{"{hh}:{mm}", "{h}:{mm}", "ore {hh}"},
		repeats: rules("ogni giorno", "ogni 3 giorni", "ogni settimana", "mensilmente", "ogni anno",
			"ogni due settimane", "ogni {w}"),
		times: "%d volte", until: "fino al %s", length: "per %d minuti",
	},
	"nl": {
		titles:   "Lunch met Ana, Teamoverleg, Ben bellen, Brood en melk kopen, Plan B, Versie 2, Naar zee",
		weekdays: "zondag maandag dinsdag woensdag donderdag vrijdag zaterdag",
		months:   "januari februari maart april mei juni juli augustus september oktober november december",
		dates:    []string{"{d} {m} {y}", "op {d} {m} {y}", "op {w} {d} {m} {y}", "{d}-{n}-{y}"},
		soon:     [3]string{"vandaag", "morgen", "overmorgen"},
		week:     []string{"{w}", "op {w}"}, days: []string{"over {a} dagen"},
		yearless:  []string{"op {d} {m}", "{d} {m}"},
		reminders: before("herinnering 10 minuten vooraf", "herinner me 1 dag van tevoren"),
		joins:     [3]string{"van ", " tot ", "om "}, clocks: []string{"{hh}:{mm}", "{h}:{mm}", "{hh}:{mm} uur"},
		repeats: rules("elke dag", "elke 3 dagen", "elke week", "maandelijks", "elk jaar", "elke twee weken",
			"elke {w}"),
		times: "%d keer", until: "tot %s", length: "gedurende %d minuten",
	},
	"pl": {
		titles:   "Obiad z Aną, Narada zespołu, Telefon Bena, Kupić chleb i mleko, Plan B, Wersja 2, Wyjazd nad morze",
		weekdays: "niedziela poniedziałek wtorek środa czwartek piątek sobota",
		months: "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada " +
			"grudnia",
		dates: []string{"{d} {m} {y}", "dnia {d} {m} {y}", "{w}, {d} {m} {y}"},
		soon:  [3]string{"dziś", "jutro", "pojutrze"},
		week:  []string{"{w}", "w {w}"}, days: []string{"za {a} dni"}, yearless: []string{"{d} {m}", "w {d} {m}"},
		reminders: before("przypomnij 10 minut wcześniej", "przypomnienie 1 dzień przed"),
		joins:     [3]string{"od ", " do ", "o "}, clocks: []string{"{hh}:{mm}", "{h}:{mm}", "godz. {hh}"},
		repeats: rules("codziennie", "co 3 dni", "co tydzień", "co miesiąc", "co roku", "co dwa tygodnie",
			"każdy {w}"),
		times: "%d razy", until: "do %s", length: "przez %d minut",
	},
	"pt": {
		titles:   "Almoço com Ana, Reunião de equipa, Ligar ao Ben, Comprar o pão, Plano B, Versão 2, Ver o mar",
		weekdays: "domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado",
		months:   "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
		dates:    []string{"{d} de {m} de {y}", "em {d} de {m} de {y}", "{w}, {d} de {m} de {y}", "{d}/{n}/{y}"},
		soon:     [3]string{"hoje", "amanhã", "depois de amanhã"},
		week:     []string{"{w}"}, days: []string{"daqui a {a} dias", "dentro de {a} dias"},
		yearless:  []string{"no dia {d} de {m}", "dia {d} de {m}", "{d}/{n}"},
		reminders: before("lembrete 10 minutos antes", "lembra-me 1 dia antes"),
		joins:     [3]string{"das ", " às ", "às "}, clocks: []string{"{hh}:{mm}", "{h}h{mm}", "{h}h"},
		repeats: rules("todos os dias", "a cada 3 dias", "toda semana", "mensalmente", "todo ano",
			"a cada duas semanas", "toda {w}"),
		times: "%d vezes", until: "até %s", length: "durante %d minutos",
	},
}
