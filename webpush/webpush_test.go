package webpush_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/webpush"
	"caldav-mcp-server/webpush/pushtest"
)

// TestTheExampleOfRFC8292 checks the receiver of the tests against §2.4, so that it may check ours.
func TestTheExampleOfRFC8292(t *testing.T) {
	t.Parallel()
	const token = "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM" +
		"1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpi" +
		"UfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA"
	const key = "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
	if err := pushtest.Verify(token, key); err != nil {
		t.Error(err)
	}
	if pushtest.Verify(strings.Replace(token, "eyJhdWQ", "eyJhdWR", 1), key) == nil {
		t.Error("another text has the same signature")
	}
}

func TestAMessageArrives(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	service := pushtest.NewService(t, func() time.Time { return now })
	program := service.Subscribe("/wpush/one")
	to, err := webpush.Parse(service.Endpoint(program), program.PublicKey(), program.Auth())
	if err != nil {
		t.Fatal(err)
	}
	key, err := webpush.NewKey([]byte("of all processes"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := webpush.NewKey([]byte("of all processes")); err != nil || again.Public() != key.Public() {
		t.Errorf("the same secret gives another key: %v", err)
	}
	from := webpush.Sender{Key: key, Subject: "https://cal.example.com"}
	r, err := from.Request(t.Context(), to,
		webpush.Message{Text: []byte("<push-message/>"), TTL: time.Hour, Urgency: webpush.Normal, Topic: "abc"}, now)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := service.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	want := pushtest.Message{
		Path: "/wpush/one", Text: "<push-message/>", Topic: "abc", TTL: "3600", Urgency: "normal", Key: key.Public(),
		Subject: "https://cal.example.com",
	}
	if got := service.Got(); answer.StatusCode != http.StatusCreated || len(got) != 1 || got[0] != want {
		t.Errorf("%d: %+v, %v", answer.StatusCode, got, service.Wrong())
	}
}
