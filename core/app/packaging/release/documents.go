package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/meshmatch/meshmatch/core/app/internal/cli"
)

// documents returns the manual pages and the completions of shells, the
// change log, and the script that compares a change in any CI.
func (r *release) documents() (map[string]file, error) {
	root := cli.Program{}.Command()
	files := map[string]file{
		// kubectl asks a program of this name to complete words of the plugin.
		"completions/kubectl_complete-meshmatch": {[]byte("#!/bin/sh\nexec kubectl-meshmatch __complete \"$@\"\n"), 0o755},
	}
	for name, generate := range map[string]func(*bytes.Buffer) error{
		"meshmatch.bash": func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
		"_meshmatch":     func(b *bytes.Buffer) error { return root.GenZshCompletion(b) },
		"meshmatch.fish": func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
		"meshmatch.ps1":  func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) },
	} {
		var b bytes.Buffer
		if err := generate(&b); err != nil {
			return nil, err
		}
		files[path.Join("completions", name)] = file{b.Bytes(), 0o644}
	}
	if err := r.manuals(root, files); err != nil {
		return nil, err
	}
	sources := map[string]string{"README.md": "README.md", "CHANGELOG.md": "core/CHANGELOG.md", "ci/compare.sh": "cmd/action/compare.sh"}
	demo, err := filepath.Glob(filepath.Join(r.root, "testdata/demo/*.yaml"))
	if err != nil || len(demo) == 0 {
		return nil, fmt.Errorf("there is no testdata/demo: %w", err)
	}
	for _, file := range demo {
		name := path.Join("testdata/demo", filepath.Base(file))
		sources[name] = name
	}
	for name, source := range sources {
		content, err := os.ReadFile(filepath.Join(r.root, source))
		if err != nil {
			return nil, err
		}
		files[name] = file{content, 0o644}
	}
	return files, nil
}

// manuals adds a manual page for each command.
func (r *release) manuals(c *cobra.Command, files map[string]file) error {
	if !c.IsAvailableCommand() && c.HasParent() {
		return nil
	}
	c.DisableAutoGenTag = true
	var page bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Date: &r.commit, Source: "meshmatch " + r.version, Manual: "meshmatch"}
	if err := doc.GenMan(c, header, &page); err != nil {
		return err
	}
	name := bytes.ReplaceAll([]byte(c.CommandPath()), []byte(" "), []byte("-"))
	files["man/man1/"+string(name)+".1"] = file{page.Bytes(), 0o644}
	for _, sub := range c.Commands() {
		if err := r.manuals(sub, files); err != nil {
			return err
		}
	}
	return nil
}
