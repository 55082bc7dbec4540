package bench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A claim is a row of the table of bench/README.md: a text with a figure, the file that has
// it, the benchmark that shows it, and a rule of rules.txt that fails if it no longer holds.
type claim struct{ text, file, pkg, benchmark, rule string }

// readClaims returns the rows of the table under "## Claims".
func readClaims(t *testing.T) []claim {
	t.Helper()
	_, section, ok := strings.Cut(readFile(t, "README.md"), "\n## Claims\n")
	if !ok {
		t.Fatal("README.md has no section Claims")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var claims []claim
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| claim |") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 {
			t.Fatalf("%d columns: %s", len(cells), line)
		}
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		pkg, benchmark, _ := strings.Cut(cells[2], " ")
		claims = append(claims, claim{cells[0], cells[1], pkg, benchmark, cells[3]})
	}
	if len(claims) == 0 {
		t.Fatal("the section Claims has no rows")
	}
	return claims
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// plain returns text without the marks of comments and of Markdown, in single spaces.
func plain(text string) string {
	text = strings.NewReplacer("//", " ", "`", "", "**", "").Replace(text)
	return strings.Join(strings.Fields(text), " ")
}

// Each claim is in its file, its benchmark exists, and its rule is in the section of the
// benchmark's package.
func TestClaims(t *testing.T) {
	rules := map[string][]string{}
	pkg := ""
	for line := range strings.Lines(readFile(t, "rules.txt")) {
		line = strings.Join(strings.Fields(line), " ")
		if name, ok := strings.CutPrefix(line, "package "); ok {
			pkg = name
		} else if line != "" && !strings.HasPrefix(line, "#") {
			rules[pkg] = append(rules[pkg], line)
		}
	}
	for _, c := range readClaims(t) {
		t.Run(c.text, func(t *testing.T) {
			if !strings.Contains(plain(readFile(t, filepath.Join("..", c.file))), plain(c.text)) {
				t.Errorf("%s does not have this text", c.file)
			}
			if !declares(t, filepath.Join("..", c.pkg), c.benchmark) {
				t.Errorf("%s has no Benchmark%s", c.pkg, c.benchmark)
			}
			if !hasRule(rules[c.pkg], c) {
				t.Errorf("rules.txt has no rule %q of Benchmark%s for package %s", c.rule, c.benchmark, c.pkg)
			}
		})
	}
}

func declares(t *testing.T, directory, benchmark string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.Contains(readFile(t, file), "func Benchmark"+benchmark+"(b *testing.B)") {
			return true
		}
	}
	return false
}

// hasRule reports whether a rule begins with that of the claim and is about its benchmark.
func hasRule(rules []string, c claim) bool {
	words := strings.Fields(c.rule)
	if len(words) < 2 || words[1] != c.benchmark && !strings.HasPrefix(words[1], c.benchmark+"/") {
		return false
	}
	for _, rule := range rules {
		if strings.HasPrefix(rule+" ", c.rule+" ") {
			return true
		}
	}
	return false
}

var (
	// figure matches what was measured: a time, a size, a number of allocations or a speed.
	figure    = regexp.MustCompile(`\b\d[\d.,]* ?(µs|us|ms|ns|s|KB|MB|GB|KiB|MiB|GiB)\b|\b(\d|one|no) allocations?\b|\btimes (faster|slower|as fast)`)
	benchmark = regexp.MustCompile(`\bBenchmark([A-Z]\w*)`)
)

// pages are the Markdown pages whose figures are claims, with how many of their lines have
// a figure that is not measured: limits, settings and examples. The other pages are contracts
// and tables that contain no other figures.
var pages = map[string]int{
	"README.md":                         0,
	"core/GUIDE.md":                     0,
	"core/serve/README.md":              7, // times that an operator sets, and those of a relay's pings
	"cmd/meshmatch/packaging/README.md": 0,
}

// A figure in a page, and a benchmark that a comment names, are claims: the table has them.
func TestFiguresAreClaims(t *testing.T) {
	claims := readClaims(t)
	for page, others := range pages {
		unclaimed := unclaimedLines(readFile(t, filepath.Join("..", page)), page, claims)
		if len(unclaimed) != others {
			t.Errorf("%s has %d lines with figures that are no claims of bench/README.md, want %d:\n%s", page, len(unclaimed), others, strings.Join(unclaimed, "\n"))
		}
	}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "gate" || path != ".." && strings.HasPrefix(entry.Name(), ".")) {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file := filepath.ToSlash(strings.TrimPrefix(path, "../"))
		for line := range strings.Lines(readFile(t, path)) {
			if _, comment, ok := strings.Cut(line, "//"); ok {
				for _, named := range benchmark.FindAllStringSubmatch(comment, -1) {
					if !claimed(claims, file, named[1]) {
						t.Errorf("%s: a comment names %s, and the claims of bench/README.md do not have it", file, named[0])
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func claimed(claims []claim, file, benchmark string) bool {
	for _, c := range claims {
		if c.file == file && c.benchmark == benchmark {
			return true
		}
	}
	return false
}

// unclaimedLines returns the lines of a page, outside of code, that have a figure and no claim.
func unclaimedLines(text, page string, claims []claim) []string {
	var lines []string
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if code || !figure.MatchString(line) {
			continue
		}
		covered := false
		for _, c := range claims {
			covered = covered || c.file == page && strings.Contains(plain(line), plain(c.text))
		}
		if !covered {
			lines = append(lines, fmt.Sprintf("  %s", strings.TrimSpace(line)))
		}
	}
	return lines
}
