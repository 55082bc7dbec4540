package bench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// hasRule reports whether a rule begins like the rule of the claim and is about its benchmark.
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

const (
	digits     = `\d[\d.,]*`
	word       = `(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|fifty|sixty|(?:hundred|thousand|million|few|dozen)s?|half an?)`
	number     = `(?:` + digits + `|` + word + `)`
	units      = `(?:µs|us|ms|ns|s|min|h|kB|KB|MB|GB|TB|KiB|MiB|GiB|bytes?|(?:nano|micro|milli)?seconds?|minutes?|hours?|(?:kilo|mega|giga)bytes?|percent|x|allocations?)`
	fraction   = `(?:half|thirds?|quarters?|fifths?|tenths?|hundredths?|fraction)`
	comparison = `\b(?:faster|slower|quicker|cheaper|lighter)\b|\bas (?:fast|quick|cheap)\b|\borders? of magnitude\b|\b` + fraction + ` (?:of )?(?:the|its) (?:time|memory|cost|bytes|size|processor)|\b(?:without|no|zero) (?:allocations?|allocating)\b`
)

var (
	// figure matches a time, a size, a rate, a share or a ratio, in digits or in words.
	figure = regexp.MustCompile(`\b(?:` + digits + `[ -]?|` + word + `[ -])` + units + `\b|\b\d[\d.,]* ?[%×]|\bper (?:second|minute|hour)\b|\b\d[\d.,]*(?: \w+){0,3} (?:a|each|every) (?:second|minute|hour)\b|\b(?:takes?|within) an? (?:second|minute|hour)\b|\d ?[kMG]?B?/s\b` +
		`|\b(?:twice|thrice|doubles?|doubled|triples?|halves|halved)\b|\b` + number + ` times\b|\b(?:an?|two|three) ` + fraction + `\b|` + comparison)
	// speed matches what only a measurement can have found out.
	speed     = regexp.MustCompile(`\b\d[\d.,]* ?(?:µs|us|ns)\b|\b` + number + ` (?:micro|nano)seconds?\b|\b(?:twice|thrice|half|` + number + ` times) as (?:fast|slow|quick|cheap|long)|` + comparison)
	benchmark = regexp.MustCompile(`\bBenchmark([A-Z]\w*)`)
)

// A page has figures: those that match, outside of code. Others is how many of them are no
// claims: limits, settings and examples.
type page struct {
	matches *regexp.Regexp
	others  int
}

// pages are all Markdown pages, except those with results and those of a test's input. Contracts
// have many figures that are rules; what they may not have is a speed.
var pages = map[string]page{
	"README.md":                             {figure, 0},
	"core/AUTHORS.md":                       {figure, 0},
	"core/CHANGELOG.md":                     {figure, 0},
	"core/GUIDE.md":                         {figure, 3},  // the same; a slower benchmark; an option of the fuzzer
	"core/app/README.md":                    {figure, 12}, // times that an operator sets, and those of a relay's pings
	"core/app/packaging/README.md":          {figure, 0},
	"core/DRAINS.md":                        {figure, 2}, // the time of a drain
	"core/app/internal/e2e/hello/README.md": {figure, 0},
	"bench/gate/README.md":                  {speed, 1}, // a slower benchmark
	"core/diag/FINDINGS.md":                 {speed, 0},
	"core/KUMA.md":                          {speed, 0},
	"core/SPEC.md":                          {speed, 1}, // a limit of work
	"core/API.md":                           {speed, 0},
	"core/ARCHITECTURE.md":                  {speed, 0},
	"core/CONTRIBUTING.md":                  {speed, 0},
	"core/RELEASES.md":                      {speed, 0},
	"core/SECURITY.md":                      {speed, 0},
	"core/OPERATORS.md":                     {speed, 0},
	"core/STYLE.md":                         {speed, 0},
	"core/VERSIONS.md":                      {speed, 0},
	"core/app/SECURITY.md":                  {speed, 0},
	"testdata/kuma-facts/README.md":         {speed, 0},
}

// A ratio of README.md is in a row of bench/RESULTS.md with the same work and peer, whose input
// begins with the text of README.md.
func TestRatiosOfReadme(t *testing.T) {
	measured := cellsOf(readFile(t, "RESULTS.md"))
	_, section, ok := strings.Cut(readFile(t, "../README.md"), "\n| ratio |")
	if !ok {
		t.Fatal("README.md has no ratios")
	}
	section, _, _ = strings.Cut(section, "\n\n")
	rows := cellsOf(section)
	for _, row := range rows {
		if !slices.ContainsFunc(measured, func(m []string) bool {
			ratio, _, _ := strings.Cut(strings.Trim(m[0], "*"), " ")
			return ratio == row[0] && m[1] == row[1] && strings.HasPrefix(m[2], row[2]) && m[3] == row[3]
		}) {
			t.Errorf("RESULTS.md has no row %q", row)
		}
	}
	if len(rows) < 5 {
		t.Errorf("README.md has only %d ratios", len(rows))
	}
}

// cellsOf returns the rows of tables whose first cell has a number, without references to notes.
func cellsOf(text string) [][]string {
	var rows [][]string
	for line := range strings.Lines(regexp.MustCompile(` \[\d+\]`).ReplaceAllString(text, "")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) >= 4 && regexp.MustCompile(`^\**\d`).MatchString(cells[0]) {
			rows = append(rows, cells)
		}
	}
	return rows
}

// README.md is read in ten minutes; the pages by reader have the rest.
func TestReadmeIsShort(t *testing.T) {
	if lines := strings.Count(readFile(t, "../README.md"), "\n"); lines > 300 {
		t.Errorf("README.md has %d lines, want at most 300", lines)
	}
}

// results are the pages that are about measurements: each has the command that repeats them.
var results = []string{"bench/CONFORMANCE.md", "bench/FLEET.md", "bench/MUTANTS.md", "bench/README.md", "bench/RESULTS.md", "bench/RESULTS-25000.md"}

// Each Markdown page is one of those whose figures are compared with the claims, or has results.
func TestPagesHaveClaims(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != ".." && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if _, ok := pages[name]; !ok && strings.HasSuffix(name, ".md") && !slices.Contains(results, name) {
			t.Errorf("%s is not in the table of pages of this test", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a page could say about speed and memory is found in many forms, over the ends of lines, and in
// a line that has a claim, too. What is no figure is not.
func TestFigures(t *testing.T) {
	claims := []claim{{text: "takes 3 s", file: "page.md"}}
	for _, text := range []string{
		"a decision takes 40 ns", "in 2.5 µs", "within 3 seconds", "after ten\nseconds", "a few milliseconds", "two-minute runs", "half an hour",
		"in 100 MB", "12KiB of heap", "a dozen bytes", "twice the speed", "it halves the memory", "10x faster", "5 × as much", "three times as many",
		"40 % less", "40% less", "90 percent", "a tenth of the bytes", "is faster than Envoy", "half the time", "orders of magnitude",
		"1,000,000 decisions a second", "50,000 per second", "2 GB/s", "without allocating", "7 allocations", "one allocation", "no allocation",
		"takes 3 s and 4 s", "| a cell | 40 ms |",
	} {
		if got := unclaimed(text, "page.md", figure, claims); len(got) == 0 {
			t.Errorf("no figure was found in %q", text)
		}
	}
	for _, text := range []string{
		"takes\n3 s", "-f k8s://", "a second client", "a bit", "`--timeout 5s`", "Kuma 2.13", "SPEC 12.3", "port 5678", "the second item", "the new ones", "half-open", "for a time", "```\ntakes 5 s\n```", "    $ sleep 5s",
	} {
		if got := unclaimed(text, "page.md", figure, claims); len(got) > 0 {
			t.Errorf("%q has the figures %q", text, got)
		}
	}
}

// A figure in a page, and a benchmark that a comment names, are claims: the table has them.
func TestFiguresAreClaims(t *testing.T) {
	claims := readClaims(t)
	for name, page := range pages {
		found := unclaimed(readFile(t, filepath.Join("..", name)), name, page.matches, claims)
		if len(found) != page.others {
			t.Errorf("%s has %d figures that are no claims of bench/README.md, want %d:\n%s", name, len(found), page.others, strings.Join(found, "\n"))
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

// unclaimed returns the figures of a page, outside of code, that no claim covers, each with the
// text around it.
func unclaimed(text, page string, matches *regexp.Regexp, claims []claim) []string {
	var found []string
	for _, paragraph := range paragraphs(text) {
		var covered [][]int
		for _, c := range claims {
			if c.file == page {
				covered = append(covered, regexp.MustCompile(regexp.QuoteMeta(plain(c.text))).FindAllStringIndex(paragraph, -1)...)
			}
		}
		for _, at := range matches.FindAllStringIndex(paragraph, -1) {
			if !slices.ContainsFunc(covered, func(c []int) bool { return c[0] <= at[0] && at[1] <= c[1] }) {
				found = append(found, fmt.Sprintf("  %q in %.200s", paragraph[at[0]:at[1]], paragraph))
			}
		}
	}
	return found
}

// inlineCode matches code within a line, such as a flag with its value.
var inlineCode = regexp.MustCompile("`[^`]*`")

// paragraphs returns the paragraphs of a page without its code. A row of a table is one, and an
// item of a list.
func paragraphs(text string) []string {
	var all []string
	var lines []string
	end := func() {
		if len(lines) > 0 {
			all, lines = append(all, plain(inlineCode.ReplaceAllString(strings.Join(lines, " "), "CODE"))), nil
		}
	}
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		if code || strings.HasPrefix(line, "    ") && len(lines) == 0 {
			continue
		}
		row := strings.HasPrefix(line, "|")
		if row || strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "- ") {
			end()
		}
		lines = append(lines, line)
		if row {
			end()
		}
	}
	end()
	return slices.DeleteFunc(all, func(p string) bool { return p == "" })
}
