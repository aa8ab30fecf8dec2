package webpush

import (
	"crypto/ecdh"
	"encoding/base64"
	"strings"
	"testing"
)

func bytesOf(t *testing.T, text string) []byte {
	t.Helper()
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTheExampleOfRFC8291 is its §5, whose values are in appendix A.
func TestTheExampleOfRFC8291(t *testing.T) {
	t.Parallel()
	once, err := ecdh.P256().NewPrivateKey(bytesOf(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse("https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
		"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
		"BTBZMqHH6r4Tts7J_aSIgg")
	if err != nil {
		t.Fatal(err)
	}
	body, err := s.encrypt([]byte("When I grow up, I want to be a watermelon"), once,
		bytesOf(t, "DGv6ra1nlYgDCS1FRnbzlw"))
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz" +
		"AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if got := base64.RawURLEncoding.EncodeToString(body); err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestTextsHaveABound(t *testing.T) {
	t.Parallel()
	s, err := Parse(
		"https://push.example.net/",
		"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4=",
		"BTBZMqHH6r4Tts7J_aSIgg==",
	)
	if err != nil {
		t.Fatal(err)
	}
	body, err := s.Encrypt(make([]byte, MaxText))
	if err != nil || len(body) != 4096 {
		t.Errorf("the longest text: %d bytes, %v", len(body), err)
	}
	if _, err := s.Encrypt(make([]byte, MaxText+1)); err == nil {
		t.Error("a longer one was taken")
	}
}

func TestSubscriptionsThatAreNone(t *testing.T) {
	t.Parallel()
	const key, auth = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
		"BTBZMqHH6r4Tts7J_aSIgg"
	for _, c := range []struct{ endpoint, key, auth, why string }{
		{"http://push.example.net/", key, auth, "https address"},
		{"https:///path", key, auth, "https address"},
		{"https://me:secret@push.example.net/", key, auth, "https address"},
		{"", key, auth, "https address"},
		{"https://push.example.net/" + strings.Repeat("x", 1024), key, auth, "longer than"},
		{"https://push.example.net/", "", auth, "uncompressed point"},
		{"https://push.example.net/", strings.Replace(key, "BC", "BD", 1), auth, "uncompressed point"},
		{"https://push.example.net/", "A" + key[1:], auth, "uncompressed point"},
		{"https://push.example.net/", key, "", "16 bytes"},
		{"https://push.example.net/", key, auth + "AA", "16 bytes"},
	} {
		if _, err := Parse(c.endpoint, c.key, c.auth); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%q %q %q: %v, want %q", c.endpoint, c.key, c.auth, err, c.why)
		}
	}
}
