package push_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/watch"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/outbound"
	"caldav-mcp-server/push"
	"caldav-mcp-server/webpush"
	"caldav-mcp-server/webpush/pushtest"
)

var start = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// house is all that tells, with a push service and a webhook's server to be told.
type house struct {
	*housetest.House
	t       *testing.T
	service *service.Service
	auth    *auth.Service
	devices *pushtest.Service
	hooks   *hooks
	courier *push.Courier
	// outbox is how many letters of a user may wait.
	outbox int
	alice  calendar.Caller
	bob    calendar.Caller
	work   calendar.Calendar
}

// hooks is a server that webhooks lead to.
type hooks struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(http.ResponseWriter)
	got    []message
}

type message struct {
	id, timestamp, signature string
	body                     string
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, message{
		r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"), string(body),
	})
	if h.answer != nil {
		h.answer(w)
	}
}

func (h *hooks) heard() []message {
	h.mu.Lock()
	defer h.mu.Unlock()
	got := h.got
	h.got = nil
	return got
}

func (h *hooks) answerWith(f func(http.ResponseWriter)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = f
}

func newHouse(t *testing.T, url string) *house {
	h := &house{House: housetest.Open(t, url, housetest.At(start)), t: t, hooks: new(hooks), outbox: 10}
	alice := calendar.User{ID: "u-alice", Name: "alice"}
	bob := calendar.User{ID: "u-bob", Name: "bob"}
	h.auth = auth.New(h.Login())
	for _, u := range []calendar.User{alice, bob} {
		u.Created = start
		h.must(h.Store.InsertUser(t.Context(), u, "a hash"))
	}
	h.alice = calendar.Caller{User: alice, Scopes: calendar.ScopeAll, Agent: "test"}
	h.bob = calendar.Caller{User: bob, Scopes: calendar.ScopeAll, Agent: "test"}
	h.service = service.New(h.Middle())
	h.devices = pushtest.NewService(t, h.Now)
	h.hooks.Server = httptest.NewTLSServer(h.hooks)
	t.Cleanup(h.hooks.Close)
	h.courier = h.another()
	var err error
	h.work, err = h.service.CreateCalendar(t.Context(), h.alice, calendar.NewCalendar{
		Segment: "work", Properties: calendar.Properties{Name: "Work"},
	})
	h.must(err)
	return h
}

// another makes a courier, as a process that starts does.
func (h *house) another() *push.Courier { return h.on(h.Store) }

// on makes a courier on a store.
func (h *house) on(store push.Store) *push.Courier {
	roots := h.devices.Roots()
	roots.AddCert(h.hooks.Certificate())
	guard := outbound.New(outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots})
	return h.sending(store, func(r *http.Request) (push.Answer, error) {
		a, err := guard.Send(r, outbound.Limits{Time: 10 * time.Second, Bytes: 1 << 10})
		return push.Answer(a), err
	})
}

// sending makes a courier that sends with a function.
func (h *house) sending(store push.Store, send func(*http.Request) (push.Answer, error)) *push.Courier {
	key, err := webpush.NewKey([]byte("secret"))
	h.must(err)
	person := func(ctx context.Context, id calendar.UserID) (calendar.User, bool, error) {
		u, err := h.Store.UserByID(ctx, id)
		return u, err == nil && !u.Disabled, err
	}
	return push.NewCourier(push.Config{
		Store: store, Calendar: h.service.Calendar,
		Program: func(ctx context.Context, id calendar.UserID, token calendar.TokenID) (calendar.Caller, bool, error) {
			u, _, err := person(ctx, id)
			if err != nil {
				return calendar.Caller{}, false, err
			}
			c, err := h.auth.Standing(ctx, u, token)
			if errors.Is(err, auth.ErrUnauthorized) {
				return c, false, nil
			}
			return c, err == nil, err
		},
		Owner: func(ctx context.Context, id calendar.UserID) (calendar.Caller, bool, error) {
			u, ok, err := person(ctx, id)
			return calendar.Caller{User: u, Scopes: calendar.ScopeAll}, ok, err
		},
		Ending: func(_ context.Context, w calendar.Webhook) (*calendar.News, error) {
			id := h.NewID()
			return &calendar.News{
				Letter: calendar.Letter{
					ID: calendar.LetterID(id), User: w.User, To: "alice@example.org", Method: calendar.MethodEnded,
					UID: calendar.UID(id), Posted: h.Now(), Due: h.Now(), Data: []byte(w.ID),
				},
				Most: calendar.OutboxLimits{Letters: h.outbox, Bytes: 1000, Letter: 1000},
			}, nil
		},
		Send: send,
		From: webpush.Sender{Key: key, Subject: "https://cal.example.com"}, Topics: calendar.TopicKey("topics"),
		Secret: []byte("hooks"),
		Now:    h.Now, NewID: h.NewID, Logger: h.Logger(), Task: h.TaskLog.Task,
	})
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) put(uid string) {
	h.t.Helper()
	h.putIn(h.work, uid)
}

func (h *house) putIn(cal calendar.Calendar, uid string) {
	h.t.Helper()
	_, err := h.service.Put(h.t.Context(), h.alice, cal, calendar.Draft{
		Name: calendar.ObjectName(uid + ".ics"), Data: []byte(
			"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:" + uid +
				"\r\nDTSTAMP:20261120T100000Z\r\nDTSTART:20261124T090000Z\r\nSUMMARY:Secret plan\r\nEND:VEVENT\r\n" +
				"END:VCALENDAR\r\n"),
	})
	h.must(err)
}

// register has a device of a caller's told.
func (h *house) register(c calendar.Caller, path string, cal calendar.CalendarID) calendar.PushSubscription {
	h.t.Helper()
	p := h.devices.Subscribe(path)
	s, err := webpush.Parse(h.devices.Endpoint(p), p.PublicKey(), p.Auth())
	h.must(err)
	sub, err := h.service.RegisterPush(h.t.Context(), c, calendar.PushSubscription{
		Endpoint: s.Endpoint, Key: s.Key, Auth: s.Auth, Calendar: cal,
	})
	h.must(err)
	return sub
}

func (h *house) round() {
	h.t.Helper()
	h.must(h.courier.Round(h.t.Context()))
}

// told wants messages on these paths, in any order.
func (h *house) told(what string, paths ...string) []pushtest.Message {
	h.t.Helper()
	h.round()
	got := h.devices.Got()
	var have []string
	for _, m := range got {
		have = append(have, m.Path)
	}
	if err := h.devices.Wrong(); err != nil || len(have) != len(paths) {
		h.t.Errorf("%s: told %v, want %v (%v)", what, have, paths, err)
	}
	return got
}

func (h *house) share(a calendar.Access) {
	h.t.Helper()
	_, err := h.service.Reshare(h.t.Context(), h.alice, h.work.ID, []calendar.ShareEdit{{With: h.bob.User, Access: a}})
	h.must(err)
}

func each(t *testing.T, test func(*house)) {
	t.Helper()
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) { test(newHouse(t, url)) })
}

func TestDevicesAreTold(t *testing.T) {
	each(t, func(h *house) {
		h.register(h.alice, "/phone", h.work.ID)
		h.register(h.alice, "/home", "")
		h.told("before anything changed")
		h.put("a")
		h.put("b")
		for _, m := range h.told("two changes", "/phone", "/home") {
			cal, err := h.service.Calendar(h.t.Context(), h.alice, h.work.ID)
			h.must(err)
			want := map[string]string{
				"/phone": `<topic>` + calendar.TopicKey("topics").Topic("u-alice", h.work.ID) +
					`</topic><content-update><sync-token xmlns="DAV:">` + cal.SyncToken().String() +
					`</sync-token></content-update>`,
				"/home": `<topic>` + calendar.TopicKey("topics").Topic("u-alice", "") +
					`</topic><content-update></content-update>`,
			}[m.Path]
			if !strings.Contains(m.Text, want) || m.TTL != "259200" || m.Urgency != "normal" || len(m.Topic) > 32 ||
				m.Subject != "https://cal.example.com" {
				h.t.Errorf("told %+v, want %s", m, want)
			}
		}
		h.put("c")
		h.told("at once after that")
		h.Pass(3 * time.Second)
		h.told("soon after that", "/phone", "/home")
		h.told("again")
	})
}

// TestAnotherProcessTells: what was committed is told by the process that comes next, once the lease of the one that
// was killed is over.
func TestAnotherProcessTells(t *testing.T) {
	each(t, func(h *house) {
		h.register(h.alice, "/phone", h.work.ID)
		h.put("a")
		h.told("by the first", "/phone")
		h.put("b")
		h.courier = h.another()
		h.told("while the other may live")
		h.Pass(8 * time.Second)
		h.told("when it does not", "/phone")
		h.told("and no more")
	})
}

func TestWhatServicesAnswer(t *testing.T) {
	each(t, func(h *house) {
		h.register(h.alice, "/gone", h.work.ID)
		h.register(h.alice, "/busy", h.work.ID)
		h.devices.Answer = func(path string) int { return map[string]int{"/gone": 410, "/busy": 503}[path] }
		h.put("a")
		h.told("both", "/gone", "/busy")
		if told := h.TaskLog.Ended(); !slices.Equal(told, []string{"push message", "push message failed"}) {
			h.t.Errorf("the tasks are %q", told)
		}
		h.Pass(29 * time.Second)
		h.told("before the next try")
		h.Pass(time.Second)
		h.told("then", "/busy")
		h.Pass(30 * time.Second)
		h.told("the pauses grow")
		h.Pass(30 * time.Second)
		h.told("then again", "/busy")
		h.Pass(3 * 24 * time.Hour)
		h.told("when it is over")
	})
}

func TestWhoMayNotKnowIsNotTold(t *testing.T) {
	each(t, func(h *house) {
		h.share(calendar.ReadAccess)
		token, _, err := h.auth.CreateToken(h.t.Context(), auth.TokenSpec{
			User: "bob", Name: "phone", Scopes: calendar.ScopeAll,
		})
		h.must(err)
		phone := h.bob
		phone.Token = token.ID
		h.register(h.bob, "/password", h.work.ID)
		h.register(phone, "/token", h.work.ID)
		h.put("a")
		h.told("both", "/password", "/token")
		h.Pass(time.Minute)
		h.must(h.auth.RevokeToken(h.t.Context(), token.ID))
		h.put("b")
		h.told("after the token ended", "/password")
		h.Pass(time.Minute)
		h.put("c")
		h.share(calendar.FreeBusyAccess)
		h.told("after the access ended, of what was changed before")
		h.share(calendar.ReadAccess)
		h.put("d")
		h.told("the registration is gone")
	})
}

func TestOneUserHoldsUpNobody(t *testing.T) {
	each(t, func(h *house) {
		for i := range 130 {
			h.register(h.alice, fmt.Sprintf("/%d", i), h.work.ID)
		}
		h.share(calendar.ReadAccess)
		h.register(h.bob, "/bob", h.work.ID)
		h.put("a")
		h.round()
		if n := len(h.devices.Got()); n != 121 {
			h.t.Errorf("in the first minute %d messages left, want 120 of hers and his", n)
		}
		h.Pass(time.Minute)
		h.round()
		if n := len(h.devices.Got()); n != 10 {
			h.t.Errorf("in the next %d", n)
		}
	})
}

// verify checks a signature as Standard Webhooks has it, by the secret as its owner got it.
func verify(secret string, m message) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || !strings.HasPrefix(secret, "whsec_") {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(m.id + "." + m.timestamp + "." + m.body))
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for one := range strings.FieldsSeq(m.signature) {
		if one == want {
			return true
		}
	}
	return false
}

func (h *house) webhook(c calendar.Caller, spec watch.WebhookSpec) (calendar.Webhook, string) {
	h.t.Helper()
	spec.URL = h.hooks.URL + "/hook"
	w, err := h.service.AddWebhook(h.t.Context(), c, spec)
	h.must(err)
	secret, err := push.WebhookSecret([]byte("hooks"), w)
	h.must(err)
	return w, secret
}

func (h *house) heard(what string, n int) []message {
	h.t.Helper()
	h.round()
	got := h.hooks.heard()
	if len(got) != n {
		h.t.Fatalf("%s: %d messages, want %d: %+v", what, len(got), n, got)
	}
	return got
}

func TestWebhooksAreTold(t *testing.T) {
	each(t, func(h *house) {
		h.put("before")
		w, secret := h.webhook(h.alice, watch.WebhookSpec{})
		h.heard("before anything changed", 0)
		h.put("a")
		h.put("b")
		m := h.heard("two changes", 1)[0]
		if !verify(secret, m) || m.timestamp != fmt.Sprint(start.Unix()) || strings.Contains(m.id, ".") ||
			strings.Contains(m.body, "Secret plan") {
			h.t.Errorf("message %+v", m)
		}
		var body struct {
			Type string
			Data struct {
				CalendarID string `json:"calendar_id"`
				Changes    []struct{ Kind, UID string }
			}
		}
		h.must(json.Unmarshal([]byte(m.body), &body))
		if body.Type != "calendar.changed" || body.Data.CalendarID != string(h.work.ID) ||
			len(body.Data.Changes) != 2 || body.Data.Changes[0].UID != "a" {
			h.t.Errorf("body %s", m.body)
		}
		w, err := h.service.RotateWebhook(h.t.Context(), h.alice, w.ID)
		h.must(err)
		next, err := push.WebhookSecret([]byte("hooks"), w)
		h.must(err)
		h.put("c")
		if m = h.heard("with another secret", 1)[0]; next == secret || !verify(secret, m) || !verify(next, m) {
			h.t.Errorf("signed %q", m.signature)
		}
		h.Pass(push.Overlap)
		h.put("d")
		if m = h.heard("a day later", 1)[0]; verify(secret, m) || !verify(next, m) {
			h.t.Errorf("signed %q", m.signature)
		}
	})
}

func TestWebhooksThatAskForLess(t *testing.T) {
	each(t, func(h *house) {
		h.webhook(h.alice, watch.WebhookSpec{Kinds: []calendar.ChangeKind{calendar.Deleted}, Content: true})
		h.put("a")
		h.heard("a kind that is not wanted", 0)
		h.must(h.service.Delete(h.t.Context(), h.alice, h.work, "a.ics", calendar.Precondition{}))
		if m := h.heard("one that is", 1)[0]; !strings.Contains(m.body, "Secret plan") ||
			strings.Contains(m.body, "created") {
			h.t.Errorf("body %s", m.body)
		}
	})
}

func TestWebhooksTryAgain(t *testing.T) {
	each(t, func(h *house) {
		w, _ := h.webhook(h.alice, watch.WebhookSpec{})
		h.hooks.answerWith(func(r http.ResponseWriter) {
			r.Header().Set("Location", "https://example.com/")
			r.WriteHeader(http.StatusFound)
		})
		h.put("a")
		first := h.heard("a redirect, which is not followed", 1)[0]
		h.Pass(4 * time.Second)
		h.heard("too early", 0)
		h.hooks.answerWith(func(r http.ResponseWriter) {
			r.Header().Set("Retry-After", "3600")
			r.WriteHeader(http.StatusTooManyRequests)
		})
		h.Pass(2 * time.Second)
		if again := h.heard("again", 1)[0]; again.id != first.id || again.timestamp == first.timestamp {
			h.t.Errorf("tried as %+v, first %+v", again, first)
		}
		h.Pass(59 * time.Minute)
		h.heard("before it was asked for", 0)
		h.hooks.answerWith(nil)
		h.Pass(time.Minute)
		h.heard("then", 1)
		list, err := h.service.WebhookDeliveries(h.t.Context(), h.alice, w.ID, 10)
		h.must(err)
		if len(list) != 1 || list[0].State != calendar.DeliveryDelivered || list[0].Tries != 3 ||
			list[0].Answer != "200 OK" {
			h.t.Errorf("list %+v", list)
		}
	})
}

func TestWebhooksThatEnd(t *testing.T) {
	each(t, func(h *house) {
		w, _ := h.webhook(h.alice, watch.WebhookSpec{})
		state := func() calendar.WebhookState {
			all, err := h.service.Webhooks(h.t.Context(), h.alice)
			h.must(err)
			return all[0].State
		}
		h.hooks.answerWith(func(r http.ResponseWriter) { r.WriteHeader(http.StatusInternalServerError) })
		h.put("a")
		h.round()
		for range 100 {
			h.Pass(time.Hour)
			h.round()
		}
		if n := len(h.hooks.heard()); state() != calendar.WebhookFailing || n < 7 || n > 10 {
			h.t.Errorf("after days it is %s, with %d tries", state(), n)
		}
		letters := func(what string, want int) {
			if n, _, err := h.Store.WaitingLetters(h.t.Context()); n != want || err != nil {
				h.t.Errorf("%s: %d letters, want %d (%v)", what, n, want, err)
			}
		}
		letters("when it failed for days", 1)
		h.hooks.answerWith(func(r http.ResponseWriter) { r.WriteHeader(http.StatusGone) })
		h.put("b")
		h.heard("while it is off", 0)
		h.must(h.service.ResumeWebhook(h.t.Context(), h.alice, w.ID))
		h.outbox = 0 // that its owner cannot be told does not keep it on
		h.heard("what it missed", 1)
		letters("when there is no room", 1)
		if state() != calendar.WebhookGone {
			h.t.Errorf("it is %s", state())
		}
	})
}

func TestWebhooksOfWhoLosesACalendar(t *testing.T) {
	each(t, func(h *house) {
		h.share(calendar.ReadAccess)
		w, _ := h.webhook(h.bob, watch.WebhookSpec{})
		h.hooks.answerWith(func(r http.ResponseWriter) { r.WriteHeader(http.StatusInternalServerError) })
		h.put("a")
		h.heard("a try", 1)
		h.put("b")
		h.share(calendar.FreeBusyAccess)
		h.Pass(time.Minute)
		h.heard("after the access ended", 0)
		h.put("c")
		h.Pass(time.Minute)
		h.share(calendar.ReadAccess)
		h.hooks.answerWith(nil)
		h.put("d")
		h.heard("of the time before", 0)
		for _, m := range h.heard("since the access is back", 1) {
			if strings.Contains(m.body, `"uid":"c"`) || !strings.Contains(m.body, `"uid":"d"`) {
				h.t.Errorf("heard %s", m.body)
			}
		}
		list, err := h.service.WebhookDeliveries(h.t.Context(), h.bob, w.ID, 10)
		h.must(err)
		if failed := list[len(list)-1]; failed.State != calendar.DeliveryFailed ||
			!strings.Contains(failed.Answer, "no longer") {
			h.t.Errorf("what waited: %+v", list)
		}
	})
}

// broken is a store in which the journal of a calendar cannot be read.
type broken struct {
	push.Store
	in calendar.CalendarID
}

func (b broken) Journal(ctx context.Context, cal calendar.CalendarID,
	q calendar.JournalQuery,
) iter.Seq2[calendar.Change, error] {
	if cal == b.in {
		return func(yield func(calendar.Change, error) bool) { yield(calendar.Change{}, errors.New("broken")) }
	}
	return b.Store.Journal(ctx, cal, q)
}

// TestOneFaultStopsNobodyElse: what cannot be told of one calendar is said in the log, and all else is told.
func TestOneFaultStopsNobodyElse(t *testing.T) {
	each(t, func(h *house) {
		bad, err := h.service.CreateCalendar(h.t.Context(), h.alice, calendar.NewCalendar{Segment: "bad"})
		h.must(err)
		h.webhook(h.alice, watch.WebhookSpec{})
		h.register(h.alice, "/phone", h.work.ID)
		h.courier = h.on(broken{h.Store, bad.ID})
		h.put("a")
		h.putIn(bad, "b")
		if err := h.courier.Round(h.t.Context()); err == nil || !strings.Contains(err.Error(), "broken") {
			h.t.Errorf("the fault is not told: %v", err)
		}
		if n, m := len(h.hooks.heard()), len(h.devices.Got()); n != 1 || m != 1 {
			h.t.Errorf("%d webhooks and %d devices were told of the other calendar", n, m)
		}
	})
}
