package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
)

// release is the version of a released program. Its build sets it (core/app/packaging/release).
var release string

// version returns the version of the program and the commit that it was built from.
func version() (version, commit string) {
	version, commit = release, "(unknown)"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(version, "(unknown)"), commit
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			commit += " with changes"
		}
	}
	return cmp.Or(version, info.Main.Version, "(unknown)"), commit
}

// versionName returns the version, and the commit if that is all that there is.
func versionName() string {
	version, commit := version()
	if version == "(devel)" {
		return version + " " + commit
	}
	return version
}

// versionText is what --version prints after the name of the program: besides the version, Go
// and the platform, and the releases of Envoy that the program was tried with.
func versionText() string {
	version, commit := version()
	releases := capability.Releases
	return fmt.Sprintf("%s\ncommit:  %s\ngo:      %s %s/%s\nenvoy:   %s to %s",
		version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, releases[0], releases[len(releases)-1])
}

// Command returns the command line for documents about it.
func (p Program) Command() *cobra.Command { return newRoot(p.globals()) }

// pluginName returns how a user calls the program that was started as name: kubectl runs its
// plugins as kubectl-NAME.
func pluginName(name string) string {
	name = strings.TrimSuffix(name, ".exe")
	if plugin, ok := strings.CutPrefix(name, "kubectl-"); ok {
		return "kubectl " + strings.ReplaceAll(plugin, "_", "-")
	}
	return "meshmatch"
}

// called makes all help texts of a command line say how the user calls it.
func called(root *cobra.Command, as string) {
	if as == root.Name() {
		return
	}
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: as}
	var pairs []string
	for _, c := range root.Commands() {
		for _, name := range append([]string{c.Name()}, c.Aliases...) {
			pairs = append(pairs, root.Name()+" "+name, as+" "+name)
		}
	}
	words := strings.NewReplacer(pairs...)
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.Long, c.Example = words.Replace(c.Long), words.Replace(c.Example)
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}
