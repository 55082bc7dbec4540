package core_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// specRules returns the numbers of the rules in SPEC.md, in the order of the
// page: sections such as 3, and rules within a section such as 4.2.
func specRules(t *testing.T) []string {
	t.Helper()
	heading := regexp.MustCompile(`(?m)^(?:## (\d+)\.|### (\d+\.\d+b?)) `)
	var rules []string
	for _, match := range heading.FindAllStringSubmatch(specText(t), -1) {
		rules = append(rules, match[1]+match[2])
	}
	return rules
}

func specText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSpecNumberingIsComplete(t *testing.T) {
	want := strings.Fields(`
		1 1.1 1.2 1.3 1.4
		2 2.1 2.2 2.3 2.4
		3
		4 4.1 4.2 4.3 4.4 4.5
		5 5.1 5.2 5.3 5.4 5.5 5.6 5.7
		6
		7 7.1 7.2 7.3 7.4 7.5 7.5b 7.6 7.7
		8 8.1 8.2 8.3 8.4 8.5 8.6
		9 9.1 9.2 9.3 9.4 9.5 9.6 9.7
		10
		11 11.1 11.2 11.3 11.4 11.5 11.6 11.7 11.8
		12 12.1 12.2 12.3 12.4 12.5 12.6
		13 13.1 13.2 13.3 13.4 13.5 13.6 13.7
		14 14.1 14.2 14.3 14.4
		15
		16
		17 17.1 17.2 17.3 17.4 17.5
		18 18.1 18.2 18.3 18.4
		19 19.1 19.2 19.3 19.4 19.5`)
	if diff := cmp.Diff(want, specRules(t)); diff != "" {
		t.Error(diff)
	}
}

// A citation is "SPEC 4.2", or a list such as "SPEC 4.2, 4.3 and 7". It may
// continue on the next line of a comment.
var (
	citation   = regexp.MustCompile(`SPEC[\s/#]+(\d+(?:\.\d+b?)?(?:(?:,|,? and|,? or| to)[\s/#]+\d+\.\d+b?)*)`)
	ruleNumber = regexp.MustCompile(`\d+(?:\.\d+b?)?`)
)

func TestEveryCitedRuleExists(t *testing.T) {
	rules := specRules(t)
	cited := 0
	for path, text := range sources(t, ".go", ".md", ".txt", ".txtar") {
		for _, list := range citation.FindAllStringSubmatch(text, -1) {
			for _, number := range ruleNumber.FindAllString(list[1], -1) {
				cited++
				if !slices.Contains(rules, number) {
					t.Errorf("%s: SPEC %s is not in SPEC.md", path, number)
				}
			}
		}
	}
	if cited < 200 {
		t.Errorf("found %d citations of SPEC, want 200 or more: is the search for them broken?", cited)
	}
}

// sources returns the files of the repository with some extensions, by their paths.
func sources(t *testing.T, extensions ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != ".." && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.IsDir() || !slices.Contains(extensions, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// Every YAML block of SPEC.md that is a whole document can be loaded as it is
// printed.
func TestSpecExamplesLoad(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All(), Documents: slices.Concat(ocm.Documents(), variant.Documents())}
	loaded := 0
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(specText(t), -1) {
		if document := strings.HasPrefix(block[1], "type:") || strings.HasPrefix(block[1], "apiVersion:"); !document {
			continue
		}
		loaded++
		if _, err := loader.Decode(t.Context(), resource.Input{Name: "SPEC.md", Data: []byte(block[1])}); err != nil {
			t.Errorf("%v\n%s", err, block[1])
		}
	}
	if loaded < 12 {
		t.Errorf("loaded %d examples, want 12 or more", loaded)
	}
}
