package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A worktree is a checkout of one commit beside the repository's own.
type worktree struct {
	repository string // a directory of the repository
	root       string // of the checkout
	dir        string // in the checkout, what repository is in the repository; it may not exist
	commit     string
}

// addWorktree checks the merge base of rev and the current commit of the
// repository around dir out at root, which must not exist. The caller calls
// remove, also after an error.
func addWorktree(ctx context.Context, dir, rev, root string) (*worktree, error) {
	w := &worktree{repository: dir, root: root}
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return w, orDone(ctx, fmt.Errorf("%q is neither a directory, a test binary nor a commit of the repository at %s", rev, dir))
	}
	w.commit, err = git(ctx, dir, "merge-base", commit, "HEAD")
	if err != nil {
		return w, orDone(ctx, fmt.Errorf("%s and HEAD have no common commit; is the clone shallow? fetch its history", rev))
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return w, err
	}
	// A hook that runs after a checkout has no business here.
	if _, err := git(ctx, dir, "-c", "core.hooksPath="+os.DevNull, "worktree", "add", "--quiet", "--detach", root, w.commit); err != nil {
		return w, err
	}
	w.dir = filepath.Join(root, filepath.FromSlash(prefix))
	return w, nil
}

// remove takes the checkout away, also after ctx has ended and also one that
// is not complete.
func (w *worktree) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if _, err := git(ctx, w.repository, "worktree", "remove", "--force", w.root); err == nil {
		return nil
	}
	removeErr := os.RemoveAll(w.root)
	_, pruneErr := git(ctx, w.repository, "worktree", "prune")
	if err := errors.Join(removeErr, pruneErr); err != nil {
		return fmt.Errorf("the worktree %s is left over; remove it by `git worktree remove --force`: %w", w.root, err)
	}
	return nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := run(ctx, dir, "git", args...)
	return strings.TrimSpace(string(out)), err
}

// orDone prefers the reason why ctx ended to an error that this has caused.
func orDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
