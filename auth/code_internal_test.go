package auth

import "testing"

// The codes of RFC 6238, appendix B, as an app shows their last six digits.
func TestCodesOfTheRFC(t *testing.T) {
	t.Parallel()
	for at, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037",
		20000000000: "353130",
	} {
		if got := codeAt([]byte("12345678901234567890"), at/30); got != want {
			t.Errorf("at %d: %s, want %s", at, got, want)
		}
	}
}
