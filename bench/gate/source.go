package gate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
)

// A side is the base or the head.
type side struct {
	name     string // base or head
	label    string // its commit, directory or file
	programs []program
}

// openHead builds Config.Head, a directory or a test binary.
func openHead(ctx context.Context, c Config, temp string) (side, error) {
	s := side{name: "head", label: c.Head}
	var err error
	if isProgram(c.Head) {
		err = s.addFile(c.Head)
	} else {
		err = s.build(ctx, c, c.Head, temp)
	}
	if err == nil && len(s.programs) == 0 {
		err = fmt.Errorf("no package of %v has benchmarks in %s", c.Packages, c.Head)
	}
	return s, err
}

// openBase builds Config.Base: a directory, a test binary, or a revision. The
// merge base of a revision with the head's commit is checked out below temp. The
// caller calls done after the programs have run, even after an error.
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
	tree, err := addWorktree(ctx, repository, c.Base, filepath.Join(temp, "worktree"), isDir(c.Head))
	done = func() error { return tree.remove(ctx) }
	if err != nil {
		return s, done, err
	}
	s.label = fmt.Sprintf("%.12s (merge base of %s)", tree.commit, c.Base)
	if isDir(tree.dir) { // otherwise all benchmarks of the directory are new
		err = s.build(ctx, c, tree.dir, temp)
	}
	return s, done, err
}

func (s *side) addFile(path string) error {
	binary, err := fileProgram(path)
	s.programs = []program{binary}
	return err
}

func (s *side) build(ctx context.Context, c Config, dir, temp string) error {
	var err error
	s.programs, err = buildPrograms(ctx, dir, filepath.Join(temp, s.name), c.Packages, c.step)
	if err != nil {
		return fmt.Errorf("%s %s: %w", s.name, s.label, err)
	}
	return nil
}

// pair makes a job for each package, in the head's order. Packages that only
// the base has come last.
func pair(base, head side, bench string) ([]job, error) {
	byFile := func(s side) bool { return len(s.programs) == 1 && s.programs[0].Package == "" }
	if (byFile(base) || byFile(head)) && (len(base.programs) != 1 || len(head.programs) != 1) {
		return nil, fmt.Errorf("a test binary is one package, but the base has %d and the head %d; choose the package of the binary",
			len(base.programs), len(head.programs))
	}
	var jobs []job
	for i := range head.programs {
		jobs = append(jobs, job{head: &execution{&head.programs[i], bench}})
	}
	for i := range base.programs {
		e := &execution{&base.programs[i], bench}
		at := slices.IndexFunc(jobs, func(j job) bool {
			return j.head != nil && (j.head.Package == e.Package || byFile(base) || byFile(head))
		})
		if at < 0 {
			jobs = append(jobs, job{base: e})
			continue
		}
		jobs[at].base = e
	}
	return jobs, nil
}
