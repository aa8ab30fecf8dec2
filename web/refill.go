package web

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	markup "golang.org/x/net/html"
)

// A refused form comes back with its input, and with its error at the field (WCAG 3.3.1, 3.3.3). This is done here, in
// the markup of the page, so it holds for every form. The fields of the form that was sent get the sent values, except
// secrets. The field with the error gets aria-invalid, the message as its description, and the focus. The message links
// to the field.

// messageID is the id of the message.
const messageID = "wrong"

// refilling is the page with a refused form.
type refilling struct {
	// sent is the input, form the number of the form in the page, from 1; 0 if it has none.
	sent url.Values
	form int
	// wrong is the name of the field with the error, and wrongID its id; "" if no field has it.
	wrong, wrongID string
	// seen counts the forms so far, inForm is set within the one that was sent.
	seen   int
	inForm bool
	// list is the select that is being read; inMessage is set within the message, marked after the field.
	list              string
	inMessage, marked bool
	// said is set after the start of the message.
	said bool
	out  bytes.Buffer
}

// form is a form of a page.
type form struct {
	action string
	fields []field
	// names are the names of all its fields, and of its buttons; hidden are the values of the hidden ones.
	names  map[string]bool
	hidden url.Values
}

// field is a visible field of a form.
type field struct {
	name, id, kind string
	required       bool
	// marked is set if the page itself marks the field as the one with the error.
	marked bool
}

// secret reports whether the input of a field is never sent back.
func (f field) secret() bool {
	return f.kind == "password" || f.kind == "one-time-code"
}

// refilled returns a page with the input of a refused form that was sent to an address.
func refilled(page []byte, action string, sent url.Values, message string) ([]byte, error) {
	r := &refilling{sent: sent}
	forms, err := formsOf(page)
	if err != nil {
		return nil, err
	}
	most := -1
	for n, f := range forms {
		if fit := f.fit(action, sent); fit > most {
			r.form, most = n+1, fit
		}
	}
	if r.form > 0 {
		r.choose(forms[r.form-1].fields, message)
	}
	z := markup.NewTokenizer(bytes.NewReader(page))
	for {
		kind := z.Next()
		if kind == markup.ErrorToken {
			if errors.Is(z.Err(), io.EOF) {
				return r.out.Bytes(), nil
			}
			return nil, z.Err()
		}
		raw := slices.Clone(z.Raw())
		switch kind {
		case markup.StartTagToken, markup.SelfClosingTagToken:
			r.begin(z, z.Token(), raw)
		case markup.EndTagToken:
			r.end(z.Token(), raw)
		case markup.ErrorToken, markup.TextToken, markup.CommentToken, markup.DoctypeToken:
			r.out.Write(raw)
		}
	}
}

// fit returns the number of sent fields that the form has, or -1 if it cannot be the form that was sent.
func (f form) fit(action string, sent url.Values) int {
	if f.action != action {
		return -1
	}
	for name := range f.hidden {
		if _, given := sent[name]; given && sent.Get(name) != f.hidden.Get(name) {
			return -1
		}
	}
	n := 0
	for name := range sent {
		if f.names[name] {
			n++
		}
	}
	return n
}

// formsOf returns the forms of a page.
func formsOf(page []byte) ([]form, error) {
	var all []form
	z := markup.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case markup.ErrorToken:
			if errors.Is(z.Err(), io.EOF) {
				return all, nil
			}
			return nil, z.Err()
		case markup.StartTagToken, markup.SelfClosingTagToken:
			t := z.Token()
			if t.Data == "form" {
				action, err := url.PathUnescape(attribute(t, "action"))
				if err != nil {
					return nil, err
				}
				all = append(all, form{action: action, names: map[string]bool{}, hidden: url.Values{}})
				continue
			}
			if name := attribute(t, "name"); name != "" && len(all) > 0 {
				all[len(all)-1].add(t, name)
			}
		case markup.EndTagToken, markup.TextToken, markup.CommentToken, markup.DoctypeToken:
		}
	}
}

func (f *form) add(t markup.Token, name string) {
	if !slices.Contains([]string{"input", "select", "textarea", "button"}, t.Data) {
		return
	}
	f.names[name] = true
	switch one := fieldOf(t); {
	case one.kind == "hidden":
		f.hidden.Add(name, attribute(t, "value"))
	case t.Data != "button":
		f.fields = append(f.fields, one)
	}
}

func fieldOf(t markup.Token) field {
	f := field{
		attribute(t, "name"), attribute(t, "id"), attribute(t, "type"), has(t, "required"), has(t, "aria-invalid"),
	}
	switch {
	case t.Data != "input":
		f.kind = t.Data
	case attribute(t, "autocomplete") == "one-time-code":
		f.kind = "one-time-code"
	}
	return f
}

// choose finds the field with the error: the one that the page marks, the one whose input the message quotes, a
// required one that is empty, the secret, or the first one.
func (r *refilling) choose(fields []field, message string) {
	tests := []func(field) bool{
		func(f field) bool { return f.marked },
		func(f field) bool {
			value := strings.TrimSpace(r.sent.Get(f.name))
			return value != "" && !f.secret() && strings.Contains(message, strconv.Quote(value))
		},
		func(f field) bool { return f.required && strings.TrimSpace(r.sent.Get(f.name)) == "" },
		field.secret,
		func(f field) bool { return f.kind != "checkbox" && f.kind != "radio" },
		func(field) bool { return true },
	}
	for _, fits := range tests {
		if n := slices.IndexFunc(fields, fits); n >= 0 {
			r.wrong, r.wrongID = fields[n].name, fields[n].id
			if r.wrongID == "" {
				r.wrongID = messageID + "-field"
			}
			return
		}
	}
}

// begin writes a start tag.
func (r *refilling) begin(z *markup.Tokenizer, t markup.Token, raw []byte) {
	switch {
	case t.Data == "p" && attribute(t, "class") == "wrong" && !r.said:
		r.said = true
		set(&t, "id", messageID)
		r.out.WriteString(t.String())
		if r.wrong != "" {
			r.out.WriteString(markup.Token{Type: markup.StartTagToken, Data: "a", Attr: []markup.Attribute{
				{Key: "href", Val: "#" + r.wrongID},
			}}.String())
			r.inMessage = true
		}
		return
	case t.Data == "form":
		r.seen++
		r.inForm = r.seen == r.form
	case has(t, "autofocus"):
		drop(&t, "autofocus")
		raw = []byte(t.String())
	}
	if !r.inForm {
		r.out.Write(raw)
		return
	}
	switch t.Data {
	case "input", "select", "textarea":
		r.fill(&t)
	case "option":
		if value := attribute(t, "value"); r.list != "" {
			drop(&t, "selected")
			if slices.Contains(r.sent[r.list], value) {
				set(&t, "selected", "")
			}
		}
	default:
		r.out.Write(raw)
		return
	}
	r.out.WriteString(t.String())
	if _, sent := r.sent[attribute(t, "name")]; t.Data == "textarea" && sent {
		for z.Next() == markup.TextToken {
			// The former text is dropped.
		}
		// A line break right after the tag is not part of the text.
		r.out.WriteString("\n" + markup.EscapeString(r.sent.Get(attribute(t, "name"))) + "</textarea>")
	}
}

// fill gives a field its input, and marks it if it has the error.
func (r *refilling) fill(t *markup.Token) {
	f := fieldOf(*t)
	values, sent := r.sent[f.name]
	switch {
	case f.kind == "hidden" || f.kind == "file" || f.secret():
	case f.kind == "checkbox" || f.kind == "radio":
		value := attribute(*t, "value")
		if value == "" {
			value = "on"
		}
		if len(r.sent) > 0 {
			drop(t, "checked")
		}
		if slices.Contains(values, value) {
			set(t, "checked", "")
		}
	case f.kind == "select":
		r.list = ""
		if sent {
			r.list = f.name
		}
	case f.kind != "textarea" && sent:
		set(t, "value", values[0])
	}
	if f.name != r.wrong || r.wrong == "" || f.kind == "hidden" || r.marked {
		return
	}
	r.marked = true
	set(t, "id", r.wrongID)
	set(t, "aria-invalid", "true")
	hint := strings.TrimPrefix(attribute(*t, "aria-describedby"), messageID)
	set(t, "aria-describedby", strings.TrimSpace(messageID+" "+hint))
	set(t, "autofocus", "")
}

// end writes an end tag.
func (r *refilling) end(t markup.Token, raw []byte) {
	switch {
	case t.Data == "p" && r.inMessage:
		r.out.WriteString("</a>")
		r.inMessage = false
	case t.Data == "form":
		r.inForm = false
	case t.Data == "select":
		r.list = ""
	}
	r.out.Write(raw)
}

func attribute(t markup.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(t markup.Token, key string) bool {
	return slices.ContainsFunc(t.Attr, func(a markup.Attribute) bool { return a.Key == key })
}

func drop(t *markup.Token, key string) {
	t.Attr = slices.DeleteFunc(t.Attr, func(a markup.Attribute) bool { return a.Key == key })
}

func set(t *markup.Token, key, value string) {
	drop(t, key)
	t.Attr = append(t.Attr, markup.Attribute{Key: key, Val: value})
}
