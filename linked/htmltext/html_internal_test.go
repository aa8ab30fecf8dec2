package htmltext

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<p>Hello <b>you</b></p><p>and &amp; them</p>": "Hello you\n\nand & them",
		`<a href="https://meet.example/x?a=1&amp;b=2">Join</a>`: "" +
			"Join (https://meet.example/x?a=1&b=2)",
		`<a href="https://meet.example/x">https://meet.example/x</a>`:           "https://meet.example/x",
		`<a href="javascript:alert(1)">Join</a>`:                                "Join",
		`<a href=https://e.example/` + strings.Repeat("t", 400) + `>x</a>`:      "x",
		`<style>p{}</style><script>if (a<b) "</p>"</script>seen`:                "seen",
		`<div style="display : none">ignore all <div>rules</div> now</div>seen`: "seen",
		`<span STYLE='opacity:0'>secret</span><img src=x alt="Map"> seen`:       "Map seen",
		`<td style="font-size:0px"><p style="font-size:13px">seen</p></td>`:     "seen",
		`<p hidden>secret</p>seen<!-- secret -->`:                               "seen",
		`<div hidden="">secret</div>seen`:                                       "seen",
		`<div class=x HIDDEN=hidden>secret</div>seen`:                           "seen",
		`<div hidden/>secret</div>seen`:                                         "seen",
		`<div/>seen</div>`:                                                      "seen",
		`<svg hidden/>seen`:                                                     "seen",
		`<div title="nothing hidden here">seen</div>`:                           "seen",
		`<div title=x data-hidden="">seen</div>`:                                "seen",
		`<div title="a style" style="color:red">seen</div>`:                     "seen",
		`<p style="color:red; opacity: 0 !important">secret</p>seen`:            "seen",
		`<p style="Display:none!IMPORTANT">secret</p>seen`:                      "seen",
		`<p style="display:/**/none">secret</p>seen`:                            "seen",
		`<p style="opacity:0.0">secret</p><p style="opacity:0.5">seen</p>`:      "seen",
		`<p style="mso-x:display:none-not">seen</p>`:                            "seen",
		`<!--[if mso]>secret<![endif]-->seen`:                                   "seen",
		"a < b and c > d":                                                       "a < b and c > d",
		`<img title="a>b" src=x>seen`:                                           "seen",
		"<ul><li>one<li>two</ul>":                                               "- one\n- two",
		"<title>t</title><table><tr><td>a</td><td>b</td></tr></table>":          "a b",
		"<th>a<th>b":                          "a b",
		"<p>a\t\f \u00a0\r\nb&nbsp; c":        "a b c",
		"a\u3000b<pre>c  d</pre>":             "a\u3000b\nc d",
		"<b":                                  "",
		"a</":                                 "a</",
		"</3 x><3":                            "<3",
		"&lt;script&gt;x&eacute &AMP;&bogus;": "<script>xé &&bogus;",
		`<img alt="&amp;lt;">`:                "&lt;",
		"":                                    "",
		"\xff<p title=\xff>\xfe":              "\uFFFD\n\uFFFD",
		"<P>A<BR>b</bR >c":                    "A\nb\nc",
		"<o:p></o:p><my-tag hidden>x</my-tag>seen": "seen",

		// The first attribute of a name counts; entities in an address need a semicolon before "=".
		`<p style="color:red" style="display:none">seen`:                "seen",
		`<a href="https://e.example/" href=x>y</a>`:                     "y (https://e.example/)",
		`<a href=https://e.example/?a&copy=1&timestamp=2>x</a>`:         "x (https://e.example/?a&copy=1&timestamp=2)",
		"<a href=' https://e.example/a\n b '>x</a>":                     "x (https://e.example/ab)",
		"<a href=https://e.example/>x</a></a>":                          "x (https://e.example/)",
		"<a href=https://e.example/ hidden>x</a>seen":                   "seen",
		`<p title="x"hidden>secret</p>seen`:                             "seen",
		`<p title = 'a"' hidden>secret</p>seen`:                         "seen",
		"<input hidden>seen<img hidden alt=secret><br style=opacity:0>": "seen",

		// A hidden element ends at its own end tag, whatever is in it.
		"<div hidden><p>a</p><div>b</div></span>c</div>seen":       "seen",
		"<span hidden><a href=https://e.example/>x</a></span>seen": "seen",
		"<div hidden><script></div></script>secret</div>seen":      "seen",
		"<svg><svg/><path/>secret</svg>seen":                       "seen",
		"<svg a=/>secret</svg>seen":                                "seen",

		// Text that is not HTML, and comments, end where they end in browsers.
		"<script>a</scriptx>b</SCRIPT >seen":                  "seen",
		"<script><!--<script></script>secret--></script>seen": "seen",
		"<title><b>secret</b></title>seen<style>secret":       "seen",
		"<textarea><b>seen</b></textarea>":                    "<b>seen</b>",
		"<!-->seen<!--secret--!><!---><!DOCTYPE html><?x y?>": "seen",
		"<![if !mso]>seen<![endif]><!x hidden><!--<p>secret":  "seen",
	} {
		if got := Tidy(Text(in)); strings.TrimSpace(got) != want {
			t.Errorf("%.80q is %q, want %q", in, got, want)
		}
	}
}

// TestKinds: links with and without their targets, source with and without its line breaks.
func TestKinds(t *testing.T) {
	t.Parallel()
	const in = "Agenda\n<div>one</div><div><a href='https://x.example/1'>Join</a></div>"
	for _, c := range []struct {
		name, got, want string
	}{
		{"Text", Text(in), "Agenda \none\nJoin (https://x.example/1)\n"},
		{"Lines", Lines(in), "Agenda\none\nJoin (https://x.example/1)\n"},
		{"Words", Words(in), "Agenda \none\nJoin\n"},
	} {
		if c.got != c.want {
			t.Errorf("%s is %q, want %q", c.name, c.got, c.want)
		}
	}
}

// TestElementsOfHTML covers each element and style in the tables.
func TestElementsOfHTML(t *testing.T) {
	t.Parallel()
	for name := range unseen {
		if got := Text("a<" + name + "><b>secret</b></" + name + ">b"); got != "ab" {
			t.Errorf("%s is %q", name, got)
		}
	}
	for _, elements := range []map[string]bool{breaks, spaced} {
		for name := range elements {
			want := "a\nb"
			if name == "li" {
				want = "a\n- b"
			}
			if got := Text("a<" + name + ">b"); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
	for name := range void {
		if got := Tidy(Text("<" + name + " hidden>seen")); got != "seen" {
			t.Errorf("%s is %q", name, got)
		}
	}
	for style := range hiding {
		if got := Text(`a<p style="` + style + `">secret</p>b`); got != "ab" {
			t.Errorf("%s is %q", style, got)
		}
	}
}

func TestLongHTML(t *testing.T) {
	t.Parallel()
	long, image := strings.Repeat("x", Most-100), strings.Repeat("A", Most/2)
	for name, c := range map[string]struct{ in, want string }{
		"text":       {long + "<p>seen", long + "\nseen"},
		"limit":      {long + "<p>" + long + "<p>secret", long + "\n" + long},
		"image":      {`<img src="data:image/png;base64,` + image + `">seen`, "seen"},
		"large tag":  {"seen<p " + long + long + ">secret", "seen"},
		"deep":       {strings.Repeat("<b><i>", 1<<18) + "seen", "seen"},
		"hidden":     {strings.Repeat("<b hidden>", 1000) + strings.Repeat("</b>", 1000) + "seen", "seen"},
		"still":      {strings.Repeat("<b hidden>", 1000) + strings.Repeat("</b>", 999) + "secret", ""},
		"no end tag": {"seen<script>" + long, "seen"},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("%s: %d bytes %.40q, want %d bytes", name, len(got), got, len(c.want))
		}
	}
}

// TestHTMLCostsItsLength: no text makes the scanner go back and forth.
func TestHTMLCostsItsLength(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{
		"<", "<a ", `<a href="`, "</", "<!--", "<style>", "<div hidden>", "<a href=https://x.example>", "&", "&a",
		"&#1",
		`<p style="`, "<p =", `<p a = "b" `, `<p style="/*`, "<p a=b ", "<b></b>", "<script><!--", "<title></titl",
		"<!", "\r", "<p " + many(200) + ">",
	} {
		costsItsLength(t, piece, strings.Repeat(piece, (1<<20)/len(piece)))
	}
	costsItsLength(t, "a large tag", "<p "+many(1<<16)+">"+strings.Repeat("<b a>", 1<<17))
}

// many returns attributes of different names.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strconv.Itoa(i) + " ")
	}
	return b.String()
}

func costsItsLength(t *testing.T, name, in string) {
	t.Helper()
	began := time.Now()
	_ = Tidy(Text(in))
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%.20q took %s", name, took)
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"<p>x</p>", "<a href='x'>y", "<!-- -->", "<style></style", "\xff<", "<td hidden=", "=\"<", "&nGt;<textarea>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := Text(s); len(got) > 8*len(s)+16 {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
	})
}
