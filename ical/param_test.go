package ical_test

import (
	"testing"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

func TestParams(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want []ical.Param
	}{
		{"X:v", nil},
		{"X;a=1:v", []ical.Param{ical.NewParam("A", "1")}},
		{`X;A="1;2:3,4":v`, []ical.Param{ical.NewParam("A", "1;2:3,4")}},
		{`X;A="b","c";B=1,2,:v`, []ical.Param{ical.NewParam("A", "b", "c"), ical.NewParam("B", "1", "2", "")}},
		{`X;A=;B="":v`, []ical.Param{ical.NewParam("A", ""), ical.NewParam("B", "")}},
		{"X;A=1;a=2:v", []ical.Param{ical.NewParam("A", "1"), ical.NewParam("A", "2")}},
		{"X;A=b=c:v", []ical.Param{ical.NewParam("A", "b=c")}},
		// RFC 6868 §3.2, and carets that mean nothing.
		{`X;A=^'a^' ^^ b^nc:v`, []ical.Param{ical.NewParam("A", "\"a\" ^ b\nc")}},
		{`X;A=^^n;B=^x;C=a^:v`, []ical.Param{
			ical.NewParam("A", "^n"), ical.NewParam("B", "^x"), ical.NewParam("C", "a^"),
		}},
		{`X;A=back\nslash:v`, []ical.Param{ical.NewParam("A", `back\nslash`)}},
	} {
		if diff := cmp.Diff(tt.want, property(t, tt.line).Params()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestParam(t *testing.T) {
	t.Parallel()
	p := property(t, `ATTENDEE;cn=Doe, John;MEMBER="mailto:a","mailto:b";EMPTY=;CN=2:mailto:c`)
	for name, want := range map[string]string{"CN": "Doe, John", "member": "mailto:a,mailto:b", "EMPTY": ""} {
		if got, ok := p.Param(name); !ok || got != want {
			t.Errorf("%s = %q, %t; want %q", name, got, ok, want)
		}
	}
	if got, ok := p.Param("ROLE"); ok || got != "" {
		t.Errorf("ROLE = %q, %t; want none", got, ok)
	}
}

func TestSetParam(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line string
		edit       func(p *ical.Property)
		want       string
	}{
		{"the first", "X:v", func(p *ical.Property) { p.SetParam("A", "1") }, "X;A=1:v"},
		{"behind the others", `x;b="q":v`, func(p *ical.Property) { p.SetParam("A", "1") }, `x;b="q";A=1:v`},
		{"in place", `X;A=1;b="q":v`, func(p *ical.Property) { p.SetParam("A", "long") }, `X;A=long;b="q":v`},
		{"for several", "X;A=1;B=2;a=3:v", func(p *ical.Property) { p.SetParam("A", "4") }, "X;A=4;B=2:v"},
		{"a list", "X:v", func(p *ical.Property) { p.SetParam("A", "mailto:a", "b") }, `X;A="mailto:a",b:v`},
		{"with carets", "X:v", func(p *ical.Property) {
			p.SetParam("A", "say \"^\"\r\nor\nso\r")
		}, "X;A=say ^'^^^'^nor^nso^n:v"},
		{"harmless", "X:v", func(p *ical.Property) { p.SetParam("A=:;\n", "b\x00\xff\xff") }, "X;A----=b\uFFFD:v"},
		{"quotes what needs them", "X:v", func(p *ical.Property) {
			p.SetParam("CN", "Doe, J; \"D\"")
		}, `X;CN="Doe, J; ^'D^'":v`},
		{"remove", `X;A=1;B="2:";A=3:v`, func(p *ical.Property) { p.RemoveParam("a") }, `X;B="2:":v`},
		{"remove the last", "X;A=1:v:w", func(p *ical.Property) { p.RemoveParam("A") }, "X:v:w"},
		{"remove nothing", "X;A=1:v", func(p *ical.Property) { p.RemoveParam("B") }, "X;A=1:v"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := property(t, tt.line)
			value := p.Value()
			tt.edit(p)
			if diff := cmp.Diff(tt.want, p.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if p.Value() != value {
				t.Errorf("the value became %q, want %q", p.Value(), value)
			}
			if again := property(t, p.String()); cmp.Diff(p.Params(), again.Params()) != "" {
				t.Errorf("read again: %v, want %v", again.Params(), p.Params())
			}
		})
	}
}

func TestRemoveParamOfNothingKeepsTheBytes(t *testing.T) {
	t.Parallel()
	text := inEvent("SUMMARY;A=1", " 2:a", " b")
	doc := parse(t, text)
	calendar, err := doc.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	p := calendar.AllComponents("VEVENT")[0].Property("SUMMARY")
	if p.RemoveParam("B") {
		t.Error("removed a parameter that is not there")
	}
	if diff := cmp.Diff(text, doc.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
