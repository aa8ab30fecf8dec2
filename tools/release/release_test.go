package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPackedVersion: package managers put them in the order in which they came.
func TestPackedVersion(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.November, 22, 15, 53, 45, 0, time.UTC)
	for _, c := range []struct{ version, commit, want string }{
		{"0.2.0", "d70d228", "0.2.0"},
		{"0.2.0", "d70d228-dirty", "0.2.0+dirty"},
		{"0.2.0-rc1", "d70d228", "0.2.0~rc1"},
		{"0.2.0-dev", "d70d228", "0.2.0~dev.20261122155345.d70d228"},
		{"0.2.0-dev", "d70d228-dirty", "0.2.0~dev.20261122155345.d70d228+dirty"},
	} {
		if got, err := packedVersion(c.version, c.commit, at); err != nil || got != c.want {
			t.Errorf("%s of %s is %q (%v), want %q", c.version, c.commit, got, err, c.want)
		}
	}
	for _, wrong := range []string{"", "latest", "v1.0 beta", "v0.2.0", "1;rm -rf", "0.2.0+d70d228"} {
		if got, err := packedVersion(wrong, "d70d228", at); err == nil {
			t.Errorf("%q is taken for %q", wrong, got)
		}
	}
}

// TestImageIsTheDockerfiles: the image that Docker builds and the one of a release are the same.
func TestImageIsTheDockerfiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	_, final, found := strings.Cut(string(text), "FROM gcr.io/")
	if !found {
		t.Fatal("the Dockerfile has another base")
	}
	c := config()
	final = strings.ReplaceAll(final, "\\\n", " ")
	for _, want := range []*regexp.Regexp{
		regexp.MustCompile(`(?m)^VOLUME /data$`),
		regexp.MustCompile(`(?m)^EXPOSE 5232 5233$`),
		regexp.MustCompile(`(?m)^ENTRYPOINT \["` + regexp.QuoteMeta(c.Entrypoint[0]) + `"\]$`),
		regexp.MustCompile(`(?m)^CMD \["` + c.Cmd[0] + `"\]$`),
		regexp.MustCompile(`CMD \["` + regexp.QuoteMeta(c.Healthcheck.Test[1]) + `", "` + c.Healthcheck.Test[2] +
			`"\]`),
		regexp.MustCompile(`HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3`),
		regexp.MustCompile(`--chown=65532:65532`),
	} {
		if !want.MatchString(final) {
			t.Errorf("the Dockerfile has no %s", want)
		}
	}
	for _, line := range regexp.MustCompile(`(?:ENV)?\s+([A-Z_]+=\S+)`).FindAllStringSubmatch(final, -1) {
		if !slices.Contains(c.Env, line[1]) {
			t.Errorf("the image has no %s", line[1])
		}
	}
	if len(c.Env) != 4 || len(c.Volumes) != 1 || len(c.ExposedPorts) != 2 {
		t.Errorf("the image has more than the Dockerfile says: %+v", c)
	}
}

// TestSameBytes: an archive says nothing of where and when it was made.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	var made []string
	for range 2 {
		dir := t.TempDir()
		source := filepath.Join(dir, "program")
		if err := os.WriteFile(source, []byte("program"), 0o700); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := tarballed(&b, []file{{"x/program", source, 0o755}}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		if err := zipped(&b, []file{{"x/program", source, 0o755}}, time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		made = append(made, b.String())
	}
	if made[0] != made[1] {
		t.Error("two archives of the same file differ")
	}
}

func TestClearRefusesStrangers(t *testing.T) {
	t.Parallel()
	r := &release{out: t.TempDir()}
	stranger := filepath.Join(r.out, "thesis.tex")
	if err := os.WriteFile(stranger, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.clear(); err == nil {
		t.Error("a directory with somebody's file in it was cleared")
	}
	if _, err := os.Stat(stranger); err != nil {
		t.Error(err)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	if got, err := choose("linux/arm64,windows/amd64"); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := choose("linux/amd65"); err == nil {
		t.Error("linux/amd65 is taken")
	}
}

// TestTrusted: the image trusts somebody, and nobody whom its file cannot bound.
func TestTrusted(t *testing.T) {
	t.Parallel()
	roots, err := trusted()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(roots), "BEGIN CERTIFICATE"); n < 50 {
		t.Errorf("%d roots", n)
	}
}
