package main

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/sassoftware/go-rpmutils"
)

// try unpacks the results and runs those for this machine, so that no package is released unopened.
func (r *release) try(ctx context.Context) error {
	for _, p := range r.of("linux") {
		base := filepath.Join(r.work, "try", p.arch)
		trials := []struct {
			name   string
			unpack func(context.Context, platform, string) error
			inside string
		}{
			{"deb", r.unpackDeb, "usr/bin/" + name},
			{"rpm", r.unpackRPM, "usr/bin/" + name},
			{"apk", r.unpackAPK, "usr/bin/" + name},
			{"image", r.unpackImage, "usr/local/bin/" + name},
		}
		for _, t := range trials {
			root := filepath.Join(base, t.name)
			if err := os.MkdirAll(root, 0o755); err != nil {
				return err
			}
			err := t.unpack(ctx, p, root)
			if errors.Is(err, exec.ErrNotFound) {
				fmt.Fprintf(r.log, "%s %s: not tried: %v\n", t.name, p, err)
				continue
			} else if err != nil {
				return fmt.Errorf("%s of %s: %w", t.name, p, err)
			}
			if err := r.tryProgram(ctx, p, root, "/"+t.inside, t.name == "image"); err != nil {
				return fmt.Errorf("%s of %s: %w", t.name, p, err)
			}
		}
	}
	return nil
}

// packageFile returns the package of a platform.
func (r *release) packageFile(ending string, p platform) (string, error) {
	found, err := filepath.Glob(filepath.Join(r.out, "*[._]"+p.packaged(ending[1:])+ending))
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("there are %d files *%s of %s in %s", len(found), ending, p, r.out)
	}
	return strings.Join(found, ""), err
}

// unpackDeb installs the package with dpkg into a separate root, including the scripts.
func (r *release) unpackDeb(ctx context.Context, p platform, root string) error {
	path, err := r.packageFile(".deb", p)
	if err != nil {
		return err
	}
	if p.arch != runtime.GOARCH || os.Geteuid() != 0 {
		_, err := output(ctx, root, "dpkg-deb", "-x", path, root)
		return err
	}
	for _, dir := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		return err
	}
	if _, err := output(ctx, root, "dpkg", "--root="+root, "--force-depends", "--force-script-chrootless", "--install",
		path); err != nil {
		return err
	}
	users, err := os.ReadFile(filepath.Join(root, "etc/passwd"))
	if err != nil || !bytes.Contains(users, []byte("caldav-mcp:")) {
		return errors.Join(err, errors.New("the installation made no user caldav-mcp"))
	}
	if _, err := os.Lstat(filepath.Join(root, "etc/systemd/system/multi-user.target.wants", name+".service")); err !=
		nil {
		return fmt.Errorf("the installation did not enable the unit: %w", err)
	}
	// Removing the package removes its files but keeps the configuration.
	again := filepath.Join(filepath.Dir(root), "removed")
	if _, err := output(ctx, root, "cp", "-a", root, again); err != nil {
		return err
	}
	if _, err := output(ctx, again, "dpkg", "--root="+again, "--force-script-chrootless", "--remove", name); err !=
		nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(again, "usr/bin", name)); !os.IsNotExist(err) {
		return errors.New("the removed package leaves its program behind")
	}
	_, err = os.Stat(filepath.Join(again, "etc", name, "environment"))
	return err
}

func (r *release) unpackRPM(_ context.Context, p platform, root string) error {
	path, err := r.packageFile(".rpm", p)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	opened, err := rpmutils.ReadRpm(f)
	if err != nil {
		return err
	}
	if err := opened.ExpandPayload(root); err != nil {
		return err
	}
	// The library does not set modes.
	list, err := opened.Header.GetFiles()
	if err != nil {
		return err
	}
	for _, one := range list {
		if err := os.Chmod(filepath.Join(root, one.Name()), os.FileMode(one.Mode()).Perm()); err != nil {
			return err
		}
	}
	return nil
}

// unpackAPK extracts the files; the package is three tarballs after one another.
func (r *release) unpackAPK(ctx context.Context, p platform, root string) error {
	path, err := r.packageFile(".apk", p)
	if err != nil {
		return err
	}
	_, err = output(ctx, root, "tar", "-x", "-z", "--ignore-zeros", "-C", root, "-f", path)
	return err
}

// unpackImage extracts an image's layers in order, as an engine does.
func (r *release) unpackImage(ctx context.Context, p platform, root string) error {
	index, err := layout.ImageIndexFromPath(r.layoutDir())
	if err != nil {
		return err
	}
	whole, err := index.IndexManifest()
	if err != nil {
		return err
	}
	inner, err := index.ImageIndex(whole.Manifests[0].Digest)
	if err != nil {
		return err
	}
	images, err := inner.IndexManifest()
	if err != nil {
		return err
	}
	for _, m := range images.Manifests {
		if m.Platform.Equals(v1.Platform{OS: p.os, Architecture: p.arch, Variant: p.variant()}) {
			image, err := inner.Image(m.Digest)
			if err != nil {
				return err
			}
			flat := mutate.Extract(image)
			defer flat.Close()
			c := exec.CommandContext(ctx, "tar", "-x", "-p", "-C", root)
			c.Stdin = flat
			return c.Run()
		}
	}
	return errors.New("the index has no such image")
}

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "arm": elf.EM_ARM}

// emulators run programs of other machines (qemu-user), if they are installed.
var emulators = map[string]string{"arm64": "qemu-aarch64", "arm": "qemu-arm"}

// tryProgram checks the program in an unpacked root and, if it matches this machine, runs the server.
func (r *release) tryProgram(ctx context.Context, p platform, root, path string, jail bool) error {
	f, err := elf.Open(filepath.Join(root, path))
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Machine != machines[p.arch] {
		return fmt.Errorf("it is for %s", f.Machine)
	}
	if libraries, _ := f.ImportedLibraries(); libraries != nil {
		return fmt.Errorf("it wants %v", libraries)
	}
	if (platform{runtime.GOOS, runtime.GOARCH}) != p {
		emulator, err := exec.LookPath(emulators[p.arch])
		if err != nil {
			fmt.Fprintf(r.log, "%s: unpacked, of the right machine\n", p)
			return nil
		}
		said, err := output(ctx, root, emulator, filepath.Join(root, path), "version")
		fmt.Fprintf(r.log, "%s: emulated: %s\n", p, said)
		return err
	}
	jail = jail && os.Geteuid() == 0
	program := func(ctx context.Context, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, filepath.Join(root, path), args...)
		if jail { // nothing of this machine is visible: only the image's files
			c = exec.CommandContext(ctx, path, args...)
			c.Dir = "/"
			confine(c, root, nobody)
		}
		return c
	}
	said, err := program(ctx, "version").Output()
	if err != nil {
		return err
	}
	if !bytes.Contains(said, []byte(r.stamp.version+"+"+r.stamp.commit)) {
		return fmt.Errorf("it calls itself %q", said)
	}
	data := "/data"
	if !jail {
		data = filepath.Join(root, "trial")
	}
	return r.serve(ctx, program, data)
}

// serve starts the server and waits until it is ready, using the program's own health check.
func (r *release) serve(ctx context.Context, program func(context.Context, ...string) *exec.Cmd, data string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	caldav, err := freePort()
	if err != nil {
		return err
	}
	mcp, err := freePort()
	if err != nil {
		return err
	}
	env := []string{"DATA_DIR=" + data, "CALDAV_PORT=" + caldav, "MCP_PORT=" + mcp}
	server := program(ctx, "serve", "--no-first-user")
	var log bytes.Buffer
	server.Env, server.Stderr, server.Stdout = env, &log, &log
	if err := server.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	for {
		health := program(ctx, "health")
		health.Env = env
		if err := health.Run(); err == nil {
			break
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the server ended: %w: %s", err, log.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	if err := <-ended; err != nil {
		return fmt.Errorf("the server did not end well: %w: %s", err, log.String())
	}
	fmt.Fprintf(r.log, "%s: served\n", server.Path)
	return nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return strconv.Itoa(port), errors.Join(nil, l.(io.Closer).Close())
}
