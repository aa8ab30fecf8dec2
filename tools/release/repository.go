package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/blakesmith/ar"
	"github.com/sassoftware/go-rpmutils"
)

// repositories packs the files of an apt and an rpm repository into an archive, to be unpacked at a web server. Both
// are signed if there is a key, which is then in the archive.
func (r *release) repositories(context.Context) error {
	if len(r.of("linux")) == 0 {
		return nil
	}
	tree := &tree{root: filepath.Join(r.work, "repositories")}
	r.apt(tree)
	r.dnf(tree)
	if key := r.setting.repositories; key != nil {
		text, err := armored(openpgp.PublicKeyType, key.Serialize)
		tree.write("key.asc", text, err)
	} else {
		fmt.Fprintln(r.log, "the repositories are not signed: OPENPGP_KEY has no key")
	}
	if tree.err != nil {
		return tree.err
	}
	base := name + "_" + r.stamp.packed + "_repositories"
	return create(filepath.Join(r.out, base+".tar.gz"), func(w io.Writer) error {
		return tarballed(w, tree.files, r.stamp.at)
	})
}

// tree collects files below a directory. After the first error it does nothing.
type tree struct {
	root  string
	files []file
	err   error
}

// write adds a file with a content, and returns the content.
func (t *tree) write(path string, data []byte, err error) []byte {
	t.err = errors.Join(t.err, err)
	if t.err != nil {
		return nil
	}
	source := filepath.Join(t.root, path)
	t.err = errors.Join(os.MkdirAll(filepath.Dir(source), 0o755), os.WriteFile(source, data, 0o644))
	t.files = append(t.files, file{path, source, 0o644})
	return data
}

// copy adds a file of the release, and returns its content.
func (t *tree) copy(path, source string) []byte {
	data, err := os.ReadFile(source)
	t.err = errors.Join(t.err, err)
	t.files = append(t.files, file{path, source, 0o644})
	return data
}

// apt writes a repository with one suite, stable, and one component, main.
func (r *release) apt(t *tree) {
	var index strings.Builder
	var archs []string
	for _, p := range r.of("linux") {
		arch := p.packaged("deb")
		path, err := r.packageFile(".deb", p)
		t.err = errors.Join(t.err, err)
		place := "pool/main/" + filepath.Base(path)
		data := t.copy("apt/"+place, path)
		control, err := controlOf(data)
		archs = append(archs, arch)
		list := t.write("apt/dists/stable/main/binary-"+arch+"/Packages", fmt.Appendf(nil,
			"%s\nFilename: %s\nSize: %d\nSHA256: %x\n", strings.TrimSpace(control), place, len(data),
			sha256.Sum256(data)), err)
		packed := t.write("apt/dists/stable/main/binary-"+arch+"/Packages.gz", gzipped(list), nil)
		fmt.Fprintf(&index, " %x %d main/binary-%s/Packages\n", sha256.Sum256(list), len(list), arch)
		fmt.Fprintf(&index, " %x %d main/binary-%s/Packages.gz\n", sha256.Sum256(packed), len(packed), arch)
	}
	release := t.write("apt/dists/stable/Release", fmt.Appendf(nil, "Origin: %s\nLabel: %s\nSuite: stable\n"+
		"Codename: stable\nDate: %s\nArchitectures: %s\nComponents: main\nSHA256:\n%s", name, name,
		r.stamp.at.UTC().Format("Mon, 02 Jan 2006 15:04:05 UTC"), strings.Join(archs, " "), index.String()), nil)
	if key := r.setting.repositories; key != nil {
		signed, err := clearSigned(key, release)
		t.write("apt/dists/stable/InRelease", signed, err)
	}
}

// controlOf returns the description in a package for Debian.
func controlOf(deb []byte) (string, error) {
	for members := ar.NewReader(bytes.NewReader(deb)); ; {
		member, err := members.Next()
		if err != nil {
			return "", fmt.Errorf("the package has no control.tar.gz: %w", err)
		}
		if !strings.HasPrefix(member.Name, "control.tar.gz") {
			continue
		}
		unpacked, err := gzip.NewReader(members)
		if err != nil {
			return "", err
		}
		for files := tar.NewReader(unpacked); ; {
			header, err := files.Next()
			if err != nil {
				return "", fmt.Errorf("the package has no control file: %w", err)
			}
			if strings.TrimPrefix(header.Name, "./") == "control" {
				text, err := io.ReadAll(files)
				return string(text), err
			}
		}
	}
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(data) // to memory
	_ = w.Close()
	return b.Bytes()
}

func clearSigned(key *openpgp.Entity, text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := clearsign.Encode(&b, key.PrivateKey, nil)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	err = errors.Join(err, w.Close())
	return append(b.Bytes(), '\n'), err
}

func armored(kind string, write func(io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	w, err := armor.Encode(&b, kind, nil)
	if err != nil {
		return nil, err
	}
	err = errors.Join(write(w), w.Close())
	return append(b.Bytes(), '\n'), err
}

// dnf writes the metadata that dnf and zypper need: of the lists of files only the one with programs.
func (r *release) dnf(t *tree) {
	var list strings.Builder
	platforms := r.of("linux")
	fmt.Fprintf(&list, xml.Header+`<metadata xmlns="http://linux.duke.edu/metadata/common" `+
		`xmlns:rpm="http://linux.duke.edu/metadata/rpm" packages="%d">`+"\n", len(platforms))
	for _, p := range platforms {
		path, err := r.packageFile(".rpm", p)
		t.err = errors.Join(t.err, err)
		place := "packages/" + filepath.Base(path)
		data := t.copy("rpm/"+place, path)
		if t.err != nil {
			return
		}
		entry, err := rpmEntry(data, place, r.stamp.at.Unix())
		t.err = errors.Join(t.err, err)
		list.WriteString(entry)
	}
	list.WriteString("</metadata>\n")
	plain := []byte(list.String())
	packed := t.write("rpm/repodata/primary.xml.gz", gzipped(plain), nil)
	index := t.write("rpm/repodata/repomd.xml", fmt.Appendf(nil, xml.Header+
		`<repomd xmlns="http://linux.duke.edu/metadata/repo"><revision>%d</revision><data type="primary">`+
		`<checksum type="sha256">%x</checksum><open-checksum type="sha256">%x</open-checksum>`+
		`<location href="repodata/primary.xml.gz"/><timestamp>%d</timestamp><size>%d</size><open-size>%d</open-size>`+
		"</data></repomd>\n", r.stamp.at.Unix(), sha256.Sum256(packed), sha256.Sum256(plain), r.stamp.at.Unix(),
		len(packed), len(plain)), nil)
	if key := r.setting.repositories; key != nil {
		signature, err := armored(openpgp.SignatureType, func(w io.Writer) error {
			return openpgp.DetachSign(w, key, bytes.NewReader(index), nil)
		})
		t.write("rpm/repodata/repomd.xml.asc", signature, err)
	}
}

// rpmEntry describes a package in the list of an rpm repository.
func rpmEntry(data []byte, place string, at int64) (string, error) {
	header, err := rpmutils.ReadHeader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	id, err := header.GetNEVRA()
	if err != nil {
		return "", err
	}
	summary, err := header.GetString(rpmutils.SUMMARY)
	if err != nil {
		return "", err
	}
	installed, err := header.InstalledSize()
	if err != nil {
		return "", err
	}
	where := header.GetRange()
	version := fmt.Sprintf(`epoch="%s" ver="%s" rel="%s"`, "0", id.Version, id.Release)
	return fmt.Sprintf(`<package type="rpm"><name>%s</name><arch>%s</arch><version %s/>`+
		`<checksum type="sha256" pkgid="YES">%x</checksum><summary>%s</summary><description/><packager/><url/>`+
		`<time file="%d" build="%d"/><size package="%d" installed="%d" archive="%d"/><location href="%s"/>`+
		`<format><rpm:license>Apache-2.0</rpm:license><rpm:header-range start="%d" end="%d"/>`+
		`<rpm:provides><rpm:entry name="%s" flags="EQ" %s/></rpm:provides>`+
		`<rpm:requires><rpm:entry name="systemd"/></rpm:requires><file>/usr/bin/%s</file></format></package>`+"\n",
		id.Name, id.Arch, version, sha256.Sum256(data), summary, at, at, len(data), installed, installed, place,
		where.Start, where.End, id.Name, version, name), nil
}
