package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/google/uuid"
)

// bom is the software bill of materials of a binary, in CycloneDX 1.6.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Serial     string      `json:"serialNumber"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
	Depends    []depends   `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Package    string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type depends struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// contents writes an SBOM for each binary. It lists the modules that the linker has included, not the list of
// go.mod.
func (r *release) contents(context.Context) error {
	for _, p := range r.platforms {
		b, err := r.bomOf(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		path := filepath.Join(r.out, name+"_"+r.stamp.packed+"_"+p.os+"_"+p.arch+".cdx.json")
		err = create(path, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			e.SetEscapeHTML(false)
			return e.Encode(b)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *release) bomOf(p platform) (bom, error) {
	info, err := buildinfo.ReadFile(r.binary(p))
	if err != nil {
		return bom{}, err
	}
	data, err := os.ReadFile(r.binary(p))
	if err != nil {
		return bom{}, err
	}
	sum := sha256.Sum256(data)
	self := component{
		Type: "application", Ref: name, Name: name, Version: r.stamp.version,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}},
	}
	self.Licenses = make([]license, 1)
	self.Licenses[0].License.ID = "Apache-2.0"
	for _, s := range info.Settings {
		self.Properties = append(self.Properties, property{"build:" + s.Key, s.Value})
	}
	b := bom{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		// The serial derives from the binary, so that a reproduced build has the same.
		Serial:   "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceOID, sum[:]).String(),
		Metadata: metadata{r.stamp.at.Format("2006-01-02T15:04:05Z"), self},
	}
	b.Components = append(b.Components, goComponent("std", strings.TrimPrefix(info.GoVersion, "go"), ""))
	for _, m := range info.Deps {
		b.Components = append(b.Components, moduleComponent(m))
	}
	all := depends{Ref: self.Ref}
	for _, c := range b.Components {
		all.On = append(all.On, c.Ref)
	}
	b.Depends = []depends{all}
	return b, nil
}

func moduleComponent(m *debug.Module) component {
	if m.Replace != nil {
		m = m.Replace
	}
	return goComponent(m.Path, m.Version, m.Sum)
}

func goComponent(path, version, sum string) component {
	c := component{Type: "library", Name: path, Version: version, Package: "pkg:golang/" + path + "@" + version}
	c.Ref = c.Package
	if sum != "" {
		// the hash of the module's files, as in go.sum; CycloneDX has no name for it
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}
