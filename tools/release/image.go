package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the user id of the image, as in the Dockerfile's base image.
const nobody = 65532

// entry is a file of the image, or a directory if the name ends in a slash.
type entry struct {
	name  string
	data  []byte
	mode  fs.FileMode
	owner int
}

// base returns the files that a static program needs: user names, a directory for temporary files, and root
// certificates.
func base() ([]entry, error) {
	roots, err := trusted()
	if err != nil {
		return nil, err
	}
	return []entry{
		{"data/", nil, 0o700, nobody}, // a new volume gets the owner and mode of the directory that it covers
		{"etc/", nil, 0o755, 0},
		{"etc/group", []byte("root:x:0:\nnonroot:x:65532:\n"), 0o644, 0},
		{"etc/nsswitch.conf", []byte("hosts: files dns\n"), 0o644, 0},
		{"etc/passwd", []byte("root:x:0:0:root:/:/sbin/nologin\n" +
			"nonroot:x:65532:65532:nonroot:/data:/sbin/nologin\n"), 0o644, 0},
		{"etc/ssl/", nil, 0o755, 0},
		{"etc/ssl/certs/", nil, 0o755, 0},
		{"etc/ssl/certs/ca-certificates.crt", roots, 0o644, 0},
		{"tmp/", nil, fs.ModeSticky | 0o777, 0},
		{"usr/", nil, 0o755, 0},
		{"usr/local/", nil, 0o755, 0},
		{"usr/local/bin/", nil, 0o755, 0},
	}, nil
}

// trusted returns Mozilla's root certificates, in the version pinned by this module. It leaves out roots that are
// restricted to some names, since the file cannot express the restriction.
func trusted() ([]byte, error) {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// config mirrors the Dockerfile; a test compares them.
func config() v1.Config {
	return v1.Config{
		User:         "65532:65532",
		Env:          []string{"PATH=/usr/local/bin", "DATA_DIR=/data", "CALDAV_HOST=0.0.0.0", "MCP_HOST=0.0.0.0"},
		Entrypoint:   []string{"/usr/local/bin/" + name},
		Cmd:          []string{"serve"},
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"5232/tcp": {}, "5233/tcp": {}},
		WorkingDir:   "/",
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "/usr/local/bin/" + name, "health"},
			Interval: 30 * time.Second, Timeout: 5 * time.Second, StartPeriod: 30 * time.Second, Retries: 3,
		},
	}
}

func (r *release) layoutDir() string { return filepath.Join(r.work, "image") }

// image writes an OCI layout with an image for each Linux platform, and packs it into one file.
func (r *release) image(context.Context) error {
	if len(r.of("linux")) == 0 {
		return nil
	}
	files, err := base()
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range r.of("linux") {
		image, err := r.imageOf(p, files)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{
				OS: p.os, Architecture: p.arch, Variant: p.variant(),
			}},
		})
	}
	path, err := layout.Write(r.layoutDir(), mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return err
	}
	// Podman and skopeo use the first name, containerd and Docker the second.
	err = path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.stamp.version,
		"io.containerd.image.name":          "docker.io/library/" + name + ":" + r.stamp.version,
	}))
	if err != nil {
		return err
	}
	return r.pourImage()
}

func (r *release) imageOf(p platform, files []entry) (v1.Image, error) {
	program, err := os.ReadFile(r.binary(p))
	if err != nil {
		return nil, err
	}
	image := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	for _, list := range [][]entry{files, {{"usr/local/bin/" + name, program, 0o755, 0}}} {
		var b bytes.Buffer
		if err := tarEntries(&b, list, r.stamp.at); err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(
			func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
			tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		if image, err = mutate.Append(image, mutate.Addendum{
			Layer: layer, History: v1.History{Created: v1.Time{Time: r.stamp.at}, CreatedBy: "make release"},
		}); err != nil {
			return nil, err
		}
	}
	made, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	whole := made.DeepCopy()
	whole.Architecture, whole.Variant, whole.OS = p.arch, p.variant(), p.os
	whole.Created, whole.Config = v1.Time{Time: r.stamp.at}, config()
	whole.Config.Labels = map[string]string{
		"org.opencontainers.image.title": name, "org.opencontainers.image.version": r.stamp.version,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	return mutate.ConfigFile(image, whole)
}

func tarEntries(w io.Writer, list []entry, at time.Time) error {
	t := tar.NewWriter(w)
	for _, e := range list {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(e.data)), Mode: int64(e.mode.Perm()),
			Uid: e.owner, Gid: e.owner, ModTime: at, Format: tar.FormatUSTAR,
		}
		if e.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if e.data == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	return t.Close()
}

// pourImage packs the layout into one file.
func (r *release) pourImage() error {
	var list []file
	err := filepath.WalkDir(r.layoutDir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		inside, err := filepath.Rel(r.layoutDir(), path)
		list = append(list, file{filepath.ToSlash(inside), path, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	return create(filepath.Join(r.out, name+"_"+r.stamp.packed+"_oci.tar"), func(w io.Writer) error {
		return tarred(w, list, r.stamp.at)
	})
}
