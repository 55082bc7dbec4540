package cli

import (
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// checkExclude returns an error for a malformed pattern of --exclude.
func (g *globals) checkExclude() error {
	for _, pattern := range g.exclude {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return usagef("--exclude %q is not a pattern; give one such as charts, *.values.yaml or deploy/**/test", pattern)
		}
	}
	return nil
}

// addRepository records what a load left out of directories.
func (g *globals) addRepository(set *resource.Set) {
	g.excludes = true
	g.excluded = append(g.excluded, set.Excluded...)
	for _, at := range set.NoResources {
		if !slices.Contains(g.noResources, at) { // both sides of a comparison may have it
			g.noResources = append(g.noResources, at)
		}
	}
}

// warnUnusedExclude warns of each pattern of --exclude that excluded nothing: a typo of it
// would leave the input as it was.
func (g *globals) warnUnusedExclude(to io.Writer) {
	for _, pattern := range g.exclude {
		if g.excludes && !slices.Contains(g.excluded, pattern) {
			fmt.Fprintf(to, "warning: --exclude %q excludes nothing: no file or directory below a given directory matches it\n", pattern)
		}
	}
}
