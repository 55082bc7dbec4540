package resource

import (
	"path"
	"strings"
)

// exclusions are the patterns of what a directory tree has and a load leaves out (SPEC 1.1).
//
// A pattern without a slash matches the name of a file or directory at any depth. A pattern
// with slashes matches a path below the directory that was given, or the path with that
// directory. Its elements are patterns of [path.Match]; `**` matches any number of elements.
type exclusions struct {
	patterns []string
	used     []bool // by pattern: whether it excluded something
}

// match reports whether an entry is excluded, and records by which patterns.
func (e *exclusions) match(inTree, name string) bool {
	excluded := false
	for i, pattern := range e.patterns {
		if excludes(pattern, inTree) || excludes(pattern, name) {
			e.used[i], excluded = true, true
		}
	}
	return excluded
}

// matched returns the patterns that excluded something.
func (e *exclusions) matched() (patterns []string) {
	for i, pattern := range e.patterns {
		if e.used[i] {
			patterns = append(patterns, pattern)
		}
	}
	return patterns
}

// excludes reports whether a pattern matches a path. A directory that matches has no entries
// to compare, so a pattern need not match them.
func excludes(pattern, at string) bool {
	pattern = strings.Trim(strings.TrimPrefix(pattern, "./"), "/")
	if !strings.Contains(pattern, "/") {
		matched, _ := path.Match(pattern, path.Base(at)) // the pattern is valid
		return matched
	}
	return matchElements(strings.Split(pattern, "/"), strings.Split(strings.Trim(strings.TrimPrefix(at, "./"), "/"), "/"))
}

func matchElements(patterns, elements []string) bool {
	for len(patterns) > 0 {
		if patterns[0] == "**" {
			for i := range len(elements) + 1 {
				if matchElements(patterns[1:], elements[i:]) {
					return true
				}
			}
			return false
		}
		if len(elements) == 0 {
			return false
		}
		if matched, _ := path.Match(patterns[0], elements[0]); !matched {
			return false
		}
		patterns, elements = patterns[1:], elements[1:]
	}
	return len(elements) == 0
}
