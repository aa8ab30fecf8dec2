package gmail

import (
	"strings"
	"testing"
	"time"
)

func TestTextOfHTML(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<p>Hello <b>you</b></p><p>and &amp; them</p>":                          "Hello you\n\nand & them",
		`<a href="https://meet.example/x?a=1&amp;b=2">Join</a>`:                 "Join (https://meet.example/x?a=1&b=2)",
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
		"<b":              "",
		"&lt;script&gt;x": "<script>x",
		"":                "",
	} {
		if got := tidy(textOfHTML(in)); strings.TrimSpace(got) != want {
			t.Errorf("%.80q is %q, want %q", in, got, want)
		}
	}
}

// TestHTMLCostsItsLength: no text makes the scanner go back and forth.
func TestHTMLCostsItsLength(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"<", "<a ", `<a href="`, "</", "<!--", "<style>", "<div hidden>", "<a href=https://x.example>", "&", `<p style="`, "<p =", `<p a = "b" `, `<p style="/*`, "<p a=b ", "<b></b>"} {
		began := time.Now()
		_ = tidy(textOfHTML(strings.Repeat(piece, (1<<20)/len(piece))))
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%q took %s", piece, took)
		}
	}
}

func FuzzTextOfHTML(f *testing.F) {
	for _, seed := range []string{"<p>x</p>", "<a href='x'>y", "<!-- -->", "<style></style", "\xff<", "<td hidden=", "=\"<"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := textOfHTML(s); len(got) > 8*len(s)+16 {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
	})
}
