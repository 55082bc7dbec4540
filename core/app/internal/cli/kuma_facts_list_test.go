package cli

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kumaVersions are the versions that a line of the list of facts may name, with the
// versions for which a case must then hold.
var kumaVersions = map[string][]string{
	"all": {"2.12", "2.13", "2.14", "3.0"}, "2": {"2.12", "2.13", "2.14"}, "2.13": {"2.13"}, "2.14": {"2.14"}, "3.0": {"3.0"},
}

// factLine is a line of the list of facts: what it says, its versions, and its cases or the
// reason why it has none.
var factLine = regexp.MustCompile(`^\| (.+) \| (\S+(?: \S+)*) \| (.+) \|$`)

// TestKumaFactsAreListed compares the list of facts with the cases: each fact has cases for
// all of its versions or a reason, and each case belongs to a fact of its section. A fact
// that differs on purpose is explained in core/KUMA.md.
func TestKumaFactsAreListed(t *testing.T) {
	const folder = "../../../../testdata/kuma-facts"
	list, err := os.ReadFile(folder + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	explained, err := os.ReadFile("../../../KUMA.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{} // paths of cases
	section, facts := "", 0
	for line := range strings.Lines(string(list)) {
		line = strings.TrimSpace(line)
		if title, is := strings.CutPrefix(line, "## "); is {
			section, _, _ = strings.Cut(title, ".")
		}
		parts := factLine.FindStringSubmatch(line)
		if parts == nil || parts[1] == "fact" || parts[1] == "---" {
			continue
		}
		facts++
		fact, versions, cases := parts[1], strings.Fields(parts[2]), parts[3]
		if reason, is := strings.CutPrefix(cases, "differs: "); is {
			if !strings.Contains(string(explained), reason) {
				t.Errorf("%s: core/KUMA.md has no %q", fact, reason)
			}
			continue
		}
		if strings.HasPrefix(cases, "not here: ") {
			continue
		}
		holds := map[string]bool{}
		for name := range strings.SplitSeq(cases, ", ") {
			file := path.Join(section, name) + ".txtar"
			text, err := os.ReadFile(filepath.Join(folder, file))
			header := factHeader.FindSubmatch(text)
			if header == nil {
				t.Errorf("%s: the case %s is missing, or has no header: %v", fact, file, err)
				continue
			}
			listed[file] = true
			for version := range strings.FieldsSeq(string(header[2])) {
				holds[version] = true
			}
		}
		for _, word := range versions {
			if len(kumaVersions[word]) == 0 {
				t.Errorf("%s: unknown version %q", fact, word)
			}
			for _, version := range kumaVersions[word] {
				if !holds[version] {
					t.Errorf("%s: no case holds for Kuma %s", fact, version)
				}
			}
		}
	}
	if facts < 100 {
		t.Errorf("the list has %d facts", facts)
	}
	files, err := filepath.Glob(folder + "/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, file := range files {
		if file, _ = filepath.Rel(folder, file); !listed[filepath.ToSlash(file)] {
			t.Errorf("the case %s belongs to no fact of the list", file)
		}
	}
}
