package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// legal is a file of a module that must go with a binary that links it.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// licences returns the licences of this project and of all modules that a binary links, below
// licences/MODULE/. A module without one is an error.
func (r *release) licences(ctx context.Context, info *buildinfo.BuildInfo) (map[string]file, error) {
	own, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	files := map[string]file{"LICENSE": {own, 0o644}}
	c := exec.CommandContext(ctx, "go", "mod", "download", "-json")
	for _, module := range info.Deps {
		if ours(module.Path) {
			continue
		}
		if module.Replace != nil {
			return nil, fmt.Errorf("%s is replaced, so its licence is not known", module.Path)
		}
		c.Args = append(c.Args, module.Path+"@"+module.Version)
	}
	c.Dir, c.Stderr = r.root, os.Stderr
	output, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var module struct{ Path, Dir string }
		if err := decoder.Decode(&module); errors.Is(err, io.EOF) {
			return files, nil
		} else if err != nil {
			return nil, err
		}
		if err := addLegal(files, module.Path, module.Dir); err != nil {
			return nil, err
		}
	}
}

func addLegal(files map[string]file, module, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !legal.MatchString(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		files[path.Join("licences", module, e.Name())], found = file{content, 0o644}, true
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s", module, dir)
	}
	return nil
}

// ours reports whether a module is one of this repository.
func ours(module string) bool {
	return module == "github.com/meshmatch/meshmatch" || strings.HasPrefix(module, "github.com/meshmatch/meshmatch/")
}
