package main

import (
	"bufio"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httputil"
	"net/mail"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// mailing is another server on the same data, which sends mail. Booking pages need it.
type mailing struct {
	// origin is the address of the proxy in front of it.
	origin string
	server *exec.Cmd
	mails  net.Listener
	proxy  *http.Server
	// network is the number of the network that the proxy says visitors come from.
	network atomic.Int64

	mu   sync.Mutex
	sent []letter
}

// letter is a mail that the server sent.
type letter struct{ to, subject, text string }

// sendsMail starts the server, once.
func (h *house) sendsMail() *mailing {
	if h.mailing != nil {
		h.mailing.network.Add(1) // so that visitors of other errands do not use up the limits
		return h.mailing
	}
	m := new(mailing)
	var err error
	m.mails, err = net.Listen("tcp", "127.0.0.1:0")
	must(err)
	go m.receive()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	at := make([]string, 2)
	for i := range at { // two free ports
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(err)
		_, at[i], err = net.SplitHostPort(l.Addr().String())
		must(err)
		must(l.Close())
	}
	m.origin = "http://" + front.Addr().String()
	m.proxy = &http.Server{Handler: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: "127.0.0.1:" + at[0]})
		r.Out.Host = r.In.Host
		r.Out.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.7", m.network.Load()))
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
		w.WriteHeader(http.StatusBadGateway) // until the server listens
	}}}
	go func() { _ = m.proxy.Serve(front) }()
	h.mailing = m
	m.server = exec.Command(os.Getenv("COMPAT_BINARY"), "serve", "--no-first-user")
	m.server.Env = append(os.Environ(), "CALDAV_HOST=127.0.0.1", "MCP_HOST=127.0.0.1", "CALDAV_PORT="+at[0],
		"MCP_PORT="+at[1], "BASE_URL="+m.origin, "SMTP_URL=smtp://"+m.mails.Addr().String(),
		"MAIL_FROM=calendar@example.org", "TRUSTED_PROXIES=127.0.0.1", "LOG_LEVEL=error")
	m.server.Stderr = os.Stderr
	must(m.server.Start())
	for end := time.Now().Add(patience); time.Now().Before(end); pause() {
		if res, err := http.Get(m.origin + "/readyz"); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return m
			}
		}
	}
	failf("the server that sends mail does not become ready")
	return nil
}

// close stops the server that sends mail.
func (h *house) close() {
	if m := h.mailing; m != nil {
		_ = m.server.Process.Signal(syscall.SIGTERM)
		_ = m.server.Wait()
		_ = m.proxy.Close()
		_ = m.mails.Close()
	}
}

// receive keeps all mails.
func (m *mailing) receive() {
	for {
		c, err := m.mails.Accept()
		if err != nil {
			return
		}
		go m.talk(c)
	}
}

// talk is an SMTP server for one sender.
func (m *mailing) talk(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	say := func(line string) { _, _ = io.WriteString(c, line+"\r\n") }
	say("220 mailbox.example")
	to := ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch word := strings.ToUpper(line); {
		case strings.HasPrefix(word, "RCPT"):
			to = line[strings.Index(line, "<")+1 : strings.Index(line, ">")]
		case strings.HasPrefix(word, "DATA"):
			say("354 go on")
			var data strings.Builder
			for line, err = in.ReadString('\n'); err == nil && line != ".\r\n"; line, err = in.ReadString('\n') {
				data.WriteString(strings.TrimPrefix(line, "."))
			}
			m.keep(to, data.String())
		case strings.HasPrefix(word, "QUIT"):
			say("221 bye")
			return
		}
		say("250 ok")
	}
}

func (m *mailing) keep(to, data string) {
	mail, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		return
	}
	body := mail.Body
	if mail.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	text, _ := io.ReadAll(body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, letter{to, mail.Header.Get("Subject"), string(text)})
}

// mailTo waits for the last mail to an address that has a text in it.
func (m *mailing) mailTo(who, text string) letter {
	for end := time.Now().Add(patience); time.Now().Before(end); pause() {
		m.mu.Lock()
		for i := len(m.sent) - 1; i >= 0; i-- {
			if l := m.sent[i]; l.to == who && strings.Contains(l.text, text) {
				m.mu.Unlock()
				return l
			}
		}
		m.mu.Unlock()
	}
	failf("%s gets no mail with %q", who, text)
	return letter{}
}

var linkForm = regexp.MustCompile(`(?s)/book/r/[\w-]+`)

// link returns the path of the link that a visitor got.
func (m *mailing) link(who string) string { return linkForm.FindString(m.mailTo(who, "/book/r/").text) }

// host is a user with booking pages, who changes them by forms.
type host struct {
	*mailing
	h      *house
	name   string
	client http.Client
}

// host creates a user in Berlin with a page of this name, and returns both. More are pairs of settings.
func (h *house) host(name string, more ...string) *host {
	m := h.sendsMail()
	o := &host{mailing: m, h: h, name: name}
	h.passwords[name] = name + " has a password"
	_ = h.command(h.passwords[name]+"\n", "create-user", name, "--email", name+"@example.com", "--timezone",
		"Europe/Berlin", "--display-name", "Ms "+name, "--password-stdin")
	o.client.Jar, _ = cookiejar.New(nil)
	o.client.Timeout = patience
	o.post("/account/sign-in", url.Values{"name": {name}, "password": {h.passwords[name]}})
	o.save("new", more...)
	return o
}

func (o *host) post(path string, form url.Values) string {
	res, err := o.client.PostForm(o.origin+path, form)
	must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(err)
	if res.StatusCode != http.StatusOK {
		failf("%s: %s %s", path, res.Status, text)
	}
	return string(text)
}

// get returns a page as the owner sees it.
func (o *host) get(path string) string {
	res, err := o.client.Get(o.origin + path)
	must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(err)
	return string(text)
}

var targetForm = regexp.MustCompile(`(?s)<select id="calendar".*?<option value="([^"]*)"`)

// save stores the page with some settings, by its id or as a new one.
func (o *host) save(id string, more ...string) {
	text := o.get("/account/booking/new")
	target := targetForm.FindStringSubmatch(text)
	if target == nil {
		failf("there is no form for a page: %s", text)
	}
	form := url.Values{
		"do": {"save"}, "on": {"1"}, "title": {"Talk"}, "access": {"public"}, "name": {"with-" + o.name},
		"minutes": {"60, 30"}, "calendar": {target[1]}, "notice": {"0"}, "horizon": {"365"}, "language": {"en"},
	}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	for name, values := range form {
		if values[0] == "" {
			form.Del(name)
		}
	}
	o.post("/account/booking/"+id, form)
}

// page is the path of the page.
func (o *host) page() string { return "/book/with-" + o.name }

// id returns the id of the page.
func (o *host) id() string {
	return regexp.MustCompile(`/account/booking/([0-9a-f-]{36})`).FindStringSubmatch(o.get("/account/booking"))[1]
}

// visitor opens a browser at this server.
func (o *host) visitor(l look) *person {
	p := o.h.stranger(l)
	p.origin = o.origin
	return p
}
