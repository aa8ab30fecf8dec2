package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"aead.dev/minisign"
)

// sign signs the checksums, and with them every file: minisign -Vm SHA256SUMS -P KEY.
func (r *release) sign(context.Context) error {
	if r.setting.sums == nil {
		fmt.Fprintf(r.log, "%s is not signed: MINISIGN_KEY has no key\n", sums)
		return nil
	}
	text, err := os.ReadFile(filepath.Join(r.out, sums))
	if err != nil {
		return err
	}
	// The trusted comment is signed, too, so that an old file does not pass for this one.
	signature := minisign.SignWithComments(*r.setting.sums, text, name+" "+r.stamp.version+" "+sums, "")
	return os.WriteFile(filepath.Join(r.out, sums+".minisig"), signature, 0o644)
}
