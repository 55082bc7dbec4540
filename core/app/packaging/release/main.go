package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A release is what all steps share.
type release struct {
	version string    // such as v0.1.0
	root    string    // the checkout
	out     string    // the directory that is written
	url     string    // where the archives will be, for the plugin's manifest
	commit  time.Time // of the commit
}

var (
	semver    = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	platforms = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"}
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	r := &release{}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.version, "version", "", "the `VERSION`, such as v0.1.0")
	flags.StringVar(&r.root, "root", "../../../..", "the `DIR` of the checkout")
	flags.StringVar(&r.out, "out", "dist", "the `DIR` to write, which must not exist")
	flags.StringVar(&r.url, "url", "https://github.com/meshmatch/meshmatch/releases/download/VERSION", "the `URL` that the archives will have")
	only := flags.String("platforms", strings.Join(platforms, ","), "the `LIST` of platforms")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !semver.MatchString(r.version) {
		return fmt.Errorf("the version %q is not like v0.1.0: make release VERSION=v0.1.0", r.version)
	}
	r.url = strings.ReplaceAll(r.url, "VERSION", r.version)
	if err := r.readCommit(ctx); err != nil {
		return err
	}
	if err := os.Mkdir(r.out, 0o755); err != nil {
		return err
	}
	var err error
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	return r.make(ctx, strings.Split(*only, ","))
}

// readCommit reads the time of the commit. It refuses a tree with changes, which cannot be built
// elsewhere.
func (r *release) readCommit(ctx context.Context) error {
	changed, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the checkout has changes that are not committed:\n%s", changed)
	}
	seconds, err := r.git(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	s, err := strconv.ParseInt(seconds, 10, 64)
	r.commit = time.Unix(s, 0).UTC()
	return err
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir, c.Stderr = r.root, os.Stderr
	output, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(output)), nil
}

func (r *release) make(ctx context.Context, platforms []string) error {
	documents, err := r.documents()
	if err != nil {
		return err
	}
	roots, err := certificates()
	if err != nil {
		return err
	}
	var built []binary
	for _, platform := range platforms {
		begin := time.Now()
		b, err := r.build(ctx, platform)
		if err != nil {
			return err
		}
		licences, err := r.licences(ctx, b.info)
		if err != nil {
			return err
		}
		if err := r.archive(&b, documents, licences); err != nil {
			return err
		}
		if err := r.bills(b); err != nil {
			return err
		}
		fmt.Printf("%s in %.0f s\n", filepath.Base(b.archive), time.Since(begin).Seconds())
		built = append(built, b)
	}
	if err := r.plugin(built); err != nil {
		return err
	}
	if err := r.image(built, roots); err != nil {
		return err
	}
	if err := r.chart(); err != nil {
		return err
	}
	return r.sums()
}

// sums writes SHA256SUMS of all files, sorted by name, as sha256sum -c reads it.
func (r *release) sums() error {
	var sums strings.Builder
	err := filepath.WalkDir(r.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.out, path)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
