package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A binary is the program for a platform.
type binary struct {
	os, arch string
	content  []byte
	info     *buildinfo.BuildInfo // the modules that it links
	archive  string               // the path of its archive
	sum      [sha256.Size]byte    // of its archive
}

// name returns the name of the program in archives.
func (b *binary) name() string {
	if b.os == "windows" {
		return "meshmatch.exe"
	}
	return "meshmatch"
}

// build builds the program for a platform, without paths of this machine, symbols and C.
func (r *release) build(ctx context.Context, platform string) (binary, error) {
	b := binary{}
	var ok bool
	if b.os, b.arch, ok = strings.Cut(platform, "/"); !ok {
		return b, fmt.Errorf("the platform %q is not like linux/amd64", platform)
	}
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return b, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, b.name())
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-tags", "grpcnotrace", "-o", file,
		"-ldflags", "-s -w -X github.com/meshmatch/meshmatch/core/app/internal/cli.release="+r.version, "./cmd/meshmatch")
	c.Dir, c.Stderr = r.root, os.Stderr
	c.Env = append(os.Environ(), "GOOS="+b.os, "GOARCH="+b.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=", "GOAMD64=v1", "GOARM64=v8.0")
	if err := c.Run(); err != nil {
		return b, fmt.Errorf("%s: %w", platform, err)
	}
	if b.content, err = os.ReadFile(file); err != nil {
		return b, err
	}
	b.info, err = buildinfo.ReadFile(file)
	return b, err
}
