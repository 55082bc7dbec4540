package gate

import (
	"context"
	"fmt"
	"path/filepath"
)

// A side is the base or the head: its programs, and what to call them.
type side struct {
	name     string // base or head
	label    string // the commit, directory or file that it is
	programs []Program
}

// openHead builds what Config.Head names, a directory or a test binary.
func openHead(ctx context.Context, c Config, temp string) (side, error) {
	s := side{name: "head", label: c.Head}
	var err error
	switch {
	case isProgram(c.Head):
		err = s.addFile(c.Head)
	case isDir(c.Head):
		err = s.build(ctx, c, c.Head, temp)
	default:
		err = fmt.Errorf("%q is neither a directory nor a test binary", c.Head)
	}
	if err == nil && len(s.programs) == 0 {
		err = fmt.Errorf("no package of %v has benchmarks in %s", c.Packages, c.Head)
	}
	return s, err
}

// openBase builds what Config.Base names: a directory, a test binary, or a
// revision, whose merge base with the head's commit is checked out below temp.
// The caller calls done once the programs have run, also after an error.
func openBase(ctx context.Context, c Config, temp string) (s side, done func() error, err error) {
	s = side{name: "base", label: c.Base}
	done = func() error { return nil }
	switch {
	case isProgram(c.Base):
		err = s.addFile(c.Base)
		return s, done, err
	case isDir(c.Base):
		err = s.build(ctx, c, c.Base, temp)
		return s, done, err
	}
	repository := c.Head
	if !isDir(repository) {
		repository = "."
	}
	tree, err := addWorktree(ctx, repository, c.Base, filepath.Join(temp, "worktree"))
	done = func() error { return tree.remove(ctx) }
	if err != nil {
		return s, done, err
	}
	s.label = fmt.Sprintf("%.12s (merge base of %s)", tree.commit, c.Base)
	if isDir(tree.dir) { // else the directory is younger, and all of it is new
		err = s.build(ctx, c, tree.dir, temp)
	}
	return s, done, err
}

func (s *side) addFile(path string) error {
	program, err := fileProgram(path)
	s.programs = []Program{program}
	return err
}

func (s *side) build(ctx context.Context, c Config, dir, temp string) error {
	var err error
	s.programs, err = buildPrograms(ctx, dir, filepath.Join(temp, s.name), c.Packages, c.Progress)
	if err != nil {
		return fmt.Errorf("%s %s: %w", s.name, s.label, err)
	}
	return nil
}

// A pair is a package's program on both sides; one of them may be nil.
type pair struct{ base, head *Program }

// pairs matches the programs by package, in the head's order.
func pairs(base, head side) ([]pair, error) {
	byFile := func(s side) bool { return len(s.programs) == 1 && s.programs[0].Package == "" }
	if byFile(base) || byFile(head) {
		if len(base.programs) != 1 || len(head.programs) != 1 {
			return nil, fmt.Errorf("a test binary is one package, but the base has %d and the head %d; name the package by --pkg",
				len(base.programs), len(head.programs))
		}
		return []pair{{&base.programs[0], &head.programs[0]}}, nil
	}
	var all []pair
	index := map[string]int{}
	for i := range head.programs {
		index[head.programs[i].Package] = len(all)
		all = append(all, pair{head: &head.programs[i]})
	}
	for i := range base.programs {
		p := &base.programs[i]
		if at, ok := index[p.Package]; ok {
			all[at].base = p
		} else {
			all = append(all, pair{base: p})
		}
	}
	return all, nil
}
