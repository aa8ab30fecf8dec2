package main

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
)

// trial returns a release of a program that only pretends, for all Linux platforms.
func trial(t *testing.T) *release {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	r := &release{
		root: root, out: t.TempDir(), work: t.TempDir(), log: t.Output(),
		stamp: stamp{
			version: "0.2.0-rc1", packed: "0.2.0~rc1", commit: "d70d228", at: time.Unix(1_796_000_000, 0).UTC(),
		},
		setting: setting{maintainer: "Somebody <somebody@example.org>", module: "example.org/calendar"},
	}
	for _, p := range platforms() {
		if p.os == "linux" {
			r.platforms = append(r.platforms, p)
		}
	}
	for _, p := range r.platforms {
		r.host = r.binary(p)
		if err := os.MkdirAll(filepath.Dir(r.host), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.host, []byte("#!/bin/sh\necho "+p.arch+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestRepositories: apt and dnf find every package by its checksum, and the signatures are of the key.
func TestRepositories(t *testing.T) {
	t.Parallel()
	r := trial(t)
	public, secret, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r.setting.sums = &secret
	if r.setting.repositories, err = openpgp.NewEntity("a", "", "a@example.org", nil); err != nil {
		t.Fatal(err)
	}
	for _, run := range []func() error{
		func() error { return r.packages(t.Context()) }, func() error { return r.repositories(t.Context()) },
		func() error { return r.checksums(t.Context()) }, func() error { return r.sign(t.Context()) },
	} {
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	packed, err := filepath.Glob(filepath.Join(r.out, "*_repositories.tar.gz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("%v, %v", packed, err)
	}
	if _, err := output(t.Context(), dir, "tar", "-xzf", packed[0]); err != nil {
		t.Fatal(err)
	}
	read := func(path string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	block, _ := clearsign.Decode(read("apt/dists/stable/InRelease"))
	if block == nil {
		t.Fatal("InRelease is not signed")
	}
	keys := openpgp.EntityList{r.setting.repositories}
	if _, err := block.VerifySignature(keys, nil); err != nil {
		t.Error(err)
	}
	for _, arch := range []string{"amd64", "arm64", "armhf"} {
		path := "main/binary-" + arch + "/Packages"
		list := read("apt/dists/stable/" + path)
		want := fmt.Sprintf(" %x %d %s\n", sha256.Sum256(list), len(list), path)
		if !strings.Contains(string(block.Plaintext), want) {
			t.Errorf("Release has no %q:\n%s", want, block.Plaintext)
		}
		field := func(name string) string {
			_, rest, _ := strings.Cut("\n"+string(list), "\n"+name+": ")
			value, _, _ := strings.Cut(rest, "\n")
			return value
		}
		deb := read("apt/" + field("Filename"))
		if field("Architecture") != arch || field("SHA256") != fmt.Sprintf("%x", sha256.Sum256(deb)) ||
			field("Homepage") != "https://example.org/calendar" {
			t.Errorf("the list of %s is\n%s", arch, list)
		}
	}
	index := read("rpm/repodata/repomd.xml")
	if _, err := openpgp.CheckArmoredDetachedSignature(keys, bytes.NewReader(index),
		bytes.NewReader(read("rpm/repodata/repomd.xml.asc")), nil); err != nil {
		t.Error(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(read("rpm/repodata/primary.xml.gz")))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var primary struct {
		Packages []struct {
			Arch     string `xml:"arch"`
			Checksum string `xml:"checksum"`
			Location struct {
				Href string `xml:"href,attr"`
			} `xml:"location"`
		} `xml:"package"`
	}
	if err := xml.Unmarshal(text, &primary); err != nil {
		t.Fatal(err)
	}
	var archs []string
	for _, p := range primary.Packages {
		archs = append(archs, p.Arch)
		if sum := fmt.Sprintf("%x", sha256.Sum256(read("rpm/"+p.Location.Href))); sum != p.Checksum {
			t.Errorf("%s has another checksum", p.Location.Href)
		}
	}
	if got := strings.Join(archs, " "); got != "x86_64 aarch64 armv7hl" {
		t.Errorf("the rpm repository has %s", got)
	}
	list, err := os.ReadFile(filepath.Join(r.out, sums))
	signature, of := os.ReadFile(filepath.Join(r.out, sums+".minisig"))
	if err != nil || of != nil || !minisign.Verify(public, list, signature) {
		t.Errorf("the checksums are not signed: %v, %v", err, of)
	}
	for _, p := range r.platforms {
		root := t.TempDir()
		if err := r.unpackAPK(t.Context(), p, root); err != nil {
			t.Fatal(err)
		}
		said, err := exec.CommandContext(t.Context(), filepath.Join(root, "usr", "bin", name)).Output()
		if err != nil || strings.TrimSpace(string(said)) != p.arch {
			t.Errorf("the apk of %s says %q, %v", p, said, err)
		}
		if _, err := os.Stat(filepath.Join(root, "etc", "init.d", name)); err != nil {
			t.Error(err)
		}
	}
}

func TestAlpineVersion(t *testing.T) {
	t.Parallel()
	for packed, want := range map[string]string{
		"0.2.0": "0.2.0", "0.2.0~rc1": "0.2.0_rc1", "0.2.0+dirty": "0.2.0",
		"0.2.0~dev.20261122155345.d70d228+dirty": "0.2.0_alpha20261122155345",
	} {
		if got := alpineVersion(packed); got != want {
			t.Errorf("%s becomes %s, want %s", packed, got, want)
		}
	}
}

// TestSettings: a tag publishes its own version only, and a key that is none is refused.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, value, want string }{
		{"RELEASE_TAG", "v0.2.0", ""},
		{"RELEASE_TAG", "v0.3.0", "the tag is v0.3.0, but the version in"},
		{"MINISIGN_KEY", "secret", "MINISIGN_KEY: "},
		{"OPENPGP_KEY", "secret", "OPENPGP_KEY is not one armored secret key"},
	} {
		_, err := settingOf(func(name string) string {
			if name == test.name {
				return test.value
			}
			return ""
		}, "0.2.0")
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: %v, want %q", test.name, test.value, err, test.want)
		}
	}
}

// TestWorkflows: both workflows run the release with the settings that it reads, and no others.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("setting.go")
	if err != nil {
		t.Fatal(err)
	}
	read := regexp.MustCompile(`env\("([A-Z_]+)"\)`).FindAllStringSubmatch(string(source), -1)
	for _, path := range []string{".github/workflows/release.yml", ".forgejo/workflows/release.yml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "make release") || !strings.Contains(string(text), "packaging/push-image") {
			t.Errorf("%s makes no release, or pushes no image", path)
		}
		for _, name := range read {
			if !regexp.MustCompile(`\b` + name[1] + `[:=]`).Match(text) {
				t.Errorf("%s does not set %s", path, name[1])
			}
		}
	}
}
