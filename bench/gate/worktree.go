package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A worktree is a checkout of one commit in a separate directory.
type worktree struct {
	repository string // a directory of the repository
	root       string // of the checkout
	dir        string // the counterpart of repository in the checkout; it may not exist
	commit     string
	begun      bool // git has begun to make the checkout
}

// addWorktree checks out the merge base of rev and the current commit of the
// repository around dir. The checkout is at root, which must not exist. If
// headIsTree is set, the files in dir are the head of the comparison and must
// differ from that merge base. The caller must call remove, even after an
// error.
func addWorktree(ctx context.Context, dir, rev, root string, headIsTree bool) (*worktree, error) {
	w := &worktree{repository: dir, root: root}
	if _, err := git(ctx, dir, "rev-parse", "--git-dir"); err != nil {
		return w, orDone(ctx, fmt.Errorf("%q is neither a directory nor a test binary, and git finds no repository at %s to look up a revision; give a directory or a test binary, or work in a clone", rev, dir))
	}
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return w, orDone(ctx, fmt.Errorf("%q is neither a directory, a test binary nor a commit of the repository at %s; %s", rev, dir, howToFetch(ctx, dir, rev)))
	}
	w.commit, err = git(ctx, dir, "merge-base", commit, "HEAD")
	if err != nil {
		return w, orDone(ctx, fmt.Errorf("%s and HEAD have no common commit; if the clone is shallow, fetch its history: git fetch --unshallow (in GitHub Actions: fetch-depth: 0)", rev))
	}
	if headIsTree {
		if err := w.mustDiffer(ctx, rev); err != nil {
			return w, err
		}
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return w, err
	}
	w.begun = true
	// Hooks must not run after this checkout.
	if _, err := git(ctx, dir, "-c", "core.hooksPath="+os.DevNull, "worktree", "add", "--quiet", "--detach", root, w.commit); err != nil {
		return w, err
	}
	w.dir = filepath.Join(root, filepath.FromSlash(prefix))
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return w, err
	}
	return w, w.replaceOutside(ctx, top)
}

// replaceOutside makes the relative replacements in the go.mod files of the checkout absolute that
// lead out of the repository, such as ../x: they are relative to the repository's directory, whose
// top is given, and not to that of the checkout.
func (w *worktree) replaceOutside(ctx context.Context, top string) error {
	files, err := git(ctx, w.root, "ls-files", "go.mod", "*/go.mod")
	if err != nil || files == "" {
		return err
	}
	for file := range strings.SplitSeq(files, "\n") {
		module := filepath.Dir(filepath.FromSlash(file))
		text, err := run(ctx, filepath.Join(w.root, module), "go", "mod", "edit", "-json")
		if err != nil {
			continue // such as a file of a test, which is no module
		}
		var read struct {
			Replace []struct {
				Old, New struct{ Path, Version string }
			}
		}
		if err := json.Unmarshal(text, &read); err != nil {
			return err
		}
		for _, r := range read.Replace {
			inside := filepath.Join(module, filepath.FromSlash(r.New.Path))
			if r.New.Version != "" || filepath.IsAbs(r.New.Path) || filepath.IsLocal(inside) || inside == "." {
				continue
			}
			old := r.Old.Path
			if r.Old.Version != "" {
				old += "@" + r.Old.Version
			}
			edit := "-replace=" + old + "=" + filepath.Join(top, inside)
			if _, err := run(ctx, filepath.Join(w.root, module), "go", "mod", "edit", edit); err != nil {
				return err
			}
		}
	}
	return nil
}

// howToFetch suggests how to fetch a missing revision.
func howToFetch(ctx context.Context, dir, rev string) string {
	remotes, _ := git(ctx, dir, "remote")
	remote, branch, ok := strings.Cut(rev, "/")
	if ok && slices.Contains(strings.Fields(remotes), remote) {
		return fmt.Sprintf("fetch it: git fetch %s %s:refs/remotes/%s (in GitHub Actions: fetch-depth: 0)", remote, branch, rev)
	}
	if shallow, _ := git(ctx, dir, "rev-parse", "--is-shallow-repository"); shallow == "true" {
		return "the clone is shallow; fetch its history: git fetch --unshallow (in GitHub Actions: fetch-depth: 0)"
	}
	return "check its spelling, or fetch it: git fetch --all"
}

// mustDiffer returns an error if the merge base is the current commit and no
// file differs from it, because equal builds would be compared.
func (w *worktree) mustDiffer(ctx context.Context, rev string) error {
	head, err := git(ctx, w.repository, "rev-parse", "HEAD")
	if err != nil || head != w.commit {
		return err
	}
	changes, err := git(ctx, w.repository, "status", "--porcelain")
	if err != nil || changes != "" {
		return err
	}
	return fmt.Errorf("the base %s is HEAD itself or younger, and no file is changed, so a build would be compared with itself; give an older revision, such as HEAD~1", rev)
}

// remove deletes the checkout, even an incomplete one and even after ctx has
// ended.
func (w *worktree) remove(ctx context.Context) error {
	if !w.begun {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if _, err := git(ctx, w.repository, "worktree", "remove", "--force", w.root); err == nil {
		return nil
	}
	removeErr := os.RemoveAll(w.root)
	_, pruneErr := git(ctx, w.repository, "worktree", "prune")
	if err := errors.Join(removeErr, pruneErr); err != nil {
		return fmt.Errorf("the worktree %s is left over; remove it with `git worktree remove --force`: %w", w.root, err)
	}
	return nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := run(ctx, dir, "git", args...)
	return strings.TrimSpace(string(out)), err
}

// orDone returns the reason why ctx ended instead of an error that this caused.
func orDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
