package report_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/report"
	"github.com/meshmatch/meshmatch/core/diag"
)

// findings have each kind of position and characters that each format must escape.
func findings() []diag.Diagnostic {
	return diag.Sorted([]diag.Diagnostic{
		{Code: diag.UnknownField, Pos: diag.Position{File: "a b/ü,:%.yaml", Line: 4, Column: 19}, Path: `spec["a.b"].to[0]`, What: `unknown field "<x>&y"`, Hint: "did you mean *z*?"},
		{Code: diag.SelectsNothing, Pos: diag.Position{File: "/abs/mesh.yaml", Line: 1, Column: 1}, Path: "spec.targetRef", What: "50% of\n::error::it", Hint: "`` `a` | @team #1 [x](y)"},
		{Code: diag.UnreadableFile, Pos: diag.Position{File: "<stdin>"}, What: "cannot be read\x1b[31m"},
		{Code: diag.PastLimit, What: "without a place"},
		{Code: diag.ExceptedByDeny, Pos: diag.Position{File: "info.yaml", Line: 2, Column: 3}, What: "usual"},
	})
}

// properties lists the properties that the schema of SARIF 2.1.0 allows for the
// objects at a path; required ones are marked.
var properties = map[string]string{
	"":                           "$schema version! runs!",
	"runs[]":                     "tool! columnKind results",
	"runs[].tool":                "driver!",
	"runs[].tool.driver":         "name! version informationUri rules",
	"runs[].tool.driver.rules[]": "id! shortDescription fullDescription help defaultConfiguration properties",
	"runs[].tool.driver.rules[].shortDescription":                    "text!",
	"runs[].tool.driver.rules[].fullDescription":                     "text!",
	"runs[].tool.driver.rules[].help":                                "text!",
	"runs[].tool.driver.rules[].defaultConfiguration":                "level",
	"runs[].tool.driver.rules[].properties":                          "tags",
	"runs[].results[]":                                               "ruleId ruleIndex level message! locations! partialFingerprints",
	"runs[].results[].message":                                       "text!",
	"runs[].results[].partialFingerprints":                           "meshmatchFinding/v1",
	"runs[].results[].locations[]":                                   "physicalLocation logicalLocations",
	"runs[].results[].locations[].physicalLocation":                  "artifactLocation! region",
	"runs[].results[].locations[].physicalLocation.artifactLocation": "uri!",
	"runs[].results[].locations[].physicalLocation.region":           "startLine startColumn",
	"runs[].results[].locations[].logicalLocations[]":                "fullyQualifiedName",
}

// checkObject compares a value and its parts with the properties of the schema.
func checkObject(t *testing.T, path string, value any) {
	t.Helper()
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			checkObject(t, path+"[]", element)
		}
	case map[string]any:
		known, ok := properties[path]
		if !ok {
			t.Errorf("%q must be no object", path)
			return
		}
		var names []string
		for _, name := range strings.Fields(known) {
			plain := strings.TrimSuffix(name, "!")
			names = append(names, plain)
			if _, present := value[plain]; !present && plain != name {
				t.Errorf("%s has no %s", path, plain)
			}
		}
		for name, inner := range value {
			if !slices.Contains(names, name) {
				t.Errorf("%s has %s", path, name)
			}
			checkObject(t, strings.TrimPrefix(path+"."+name, "."), inner)
		}
	}
}

type log struct {
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct{ Rules []struct{ ID string } }
		}
		Results []struct {
			RuleID    string
			RuleIndex int
			Level     string
			Locations []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI string }
					Region           *struct{ StartLine, StartColumn int }
				}
			}
			PartialFingerprints map[string]string
		}
	}
}

func sarifOf(t *testing.T, list []diag.Diagnostic) (log, string) {
	t.Helper()
	data, err := report.SARIF(list, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var l log
	if err := json.Unmarshal(data, &l); err != nil {
		t.Fatal(err)
	}
	return l, string(data)
}

// levels are those of the classes of findings.
var levels = map[diag.Class]string{diag.ClassError: "error", diag.ClassNoEffect: "warning", diag.ClassLimit: "warning", diag.ClassInfo: "note"}

// The log has all properties that the schema of SARIF requires, no properties that
// it does not define, and only values that it allows.
func TestSARIFConformsToTheSchema(t *testing.T) {
	for name, list := range map[string][]diag.Diagnostic{"findings": findings(), "none": nil} {
		l, text := sarifOf(t, list)
		var tree any
		if err := json.Unmarshal([]byte(text), &tree); err != nil {
			t.Fatal(err)
		}
		checkObject(t, "", tree)
		if l.Version != "2.1.0" || len(l.Runs) != 1 || len(l.Runs[0].Results) != len(list) || strings.Contains(text, "null") {
			t.Fatalf("%s: %s", name, text)
		}
		rules := l.Runs[0].Tool.Driver.Rules
		seen := map[string]bool{}
		for _, r := range rules {
			if seen[r.ID] {
				t.Errorf("%s: rule %s is there twice", name, r.ID)
			}
			seen[r.ID] = true
		}
		for i, r := range l.Runs[0].Results {
			if r.RuleID != list[i].Code.String() || rules[r.RuleIndex].ID != r.RuleID || r.Level != levels[list[i].Code.Class()] || len(r.Locations) != 1 {
				t.Errorf("%s: result %+v is not of %s", name, r, list[i])
			}
			pos := list[i].Pos
			if pos.File == "" { // code hosts refuse a log with a result without a location
				pos = diag.Position{File: ".", Line: 1}
			}
			for _, at := range r.Locations {
				uri, err := url.Parse(at.PhysicalLocation.ArtifactLocation.URI)
				if err != nil || strings.TrimPrefix(uri.Path, "./") != pos.File || strings.ContainsAny(at.PhysicalLocation.ArtifactLocation.URI, " <>%\"") && !strings.Contains(at.PhysicalLocation.ArtifactLocation.URI, "%") {
					t.Errorf("%s: URI %q of %q: %v", name, at.PhysicalLocation.ArtifactLocation.URI, list[i].Pos.File, err)
				}
				if region := at.PhysicalLocation.Region; (region != nil) != (pos.Line > 0) || region != nil && (region.StartLine < 1 || region.StartColumn < 1) {
					t.Errorf("%s: region %+v", name, region)
				}
			}
		}
	}
}

// A fingerprint stays the same if lines move, and differs between findings.
func TestFingerprints(t *testing.T) {
	at := func(line int, path, what string) diag.Diagnostic {
		return diag.Diagnostic{Code: diag.DuplicateEntry, Pos: diag.Position{File: "a.yaml", Line: line, Column: 3}, Path: path, What: what}
	}
	prints := func(shift int) (out []string) {
		list := []diag.Diagnostic{
			at(2+shift, "x", "duplicate field"),
			at(9+shift, "x", "duplicate field"),
			at(12+shift, "y", fmt.Sprintf("the first one is at a.yaml:%d:3, in line %d", 3+shift, 4+shift)),
			at(13+shift, "y", "another"),
		}
		l, _ := sarifOf(t, list)
		for _, r := range l.Runs[0].Results {
			out = append(out, r.PartialFingerprints["meshmatchFinding/v1"])
		}
		return out
	}
	before := prints(0)
	if after := prints(17); !slices.Equal(before, after) {
		t.Errorf("moved lines change fingerprints: %v, %v", before, after)
	}
	slices.Sort(before)
	if len(slices.Compact(before)) != 4 || before[0] == "" {
		t.Errorf("equal fingerprints: %v", before)
	}
}

func TestJUnit(t *testing.T) {
	data, err := report.JUnit(findings())
	if err != nil {
		t.Fatal(err)
	}
	var suite report.Suite
	if err := xml.Unmarshal(data, &suite); err != nil {
		t.Fatalf("%v:\n%s", err, data)
	}
	if suite.Tests != 5 || suite.Failures != 4 || suite.Errors != 0 || len(suite.Cases) != 5 {
		t.Errorf("got %+v", suite)
	}
	for i, d := range findings() {
		c := suite.Cases[i]
		text := c.Out
		if d.Code.Class() != diag.ClassInfo && c.Failure != nil {
			text = c.Failure.Text
		}
		if !strings.HasPrefix(c.Name, d.Code.String()) || !strings.Contains(text, d.Code.String()) || c.Class != d.Pos.File {
			t.Errorf("case %+v of %s", c, d)
		}
		if d.Pos.Line > 0 && !strings.Contains(c.Name, fmt.Sprintf("%s:%d", d.Pos.File, d.Pos.Line)) {
			t.Errorf("case %q has no place", c.Name)
		}
	}
}

// Each finding is one command of one line, and no text of the input begins another
// command.
func TestGitHub(t *testing.T) {
	const want = `::warning title=MM6001::without a place
::warning file=/abs/mesh.yaml,line=1,col=1,title=MM2001::spec.targetRef: 50%25 of\n::error::it; ` + "`` `a` | @team #1 [x](y)" + `
::error file=<stdin>,title=MM0001::cannot be read\x1b[31m
::error file=a b/ü%2C%3A%25.yaml,line=4,col=19,title=MM0102::spec["a.b"].to[0]: unknown field "<x>&y"; did you mean *z*?
::notice file=info.yaml,line=2,col=3,title=MM4007::usual
`
	if got := string(report.GitHub(findings())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	const want = "- **MM6001** (limit) without a place\n" +
		"- **MM2001** (noEffect) `/abs/mesh.yaml:1:1` `spec.targetRef` 50% of\\\\n::error::it; \\`\\` \\`a\\` \\| &#64;team &#35;1 \\[x\\](y)\n" +
		"- **MM0001** (error) `<stdin>` cannot be read\\\\x1b\\[31m\n" +
		"- **MM0102** (error) `a b/ü,:%.yaml:4:19` `spec[\"a.b\"].to[0]` unknown field \"\\<x\\>\\&y\"; did you mean \\*z\\*?\n" +
		"- **MM4007** (info) `info.yaml:2:3` usual\n"
	if got := string(report.Markdown(findings())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := string(report.Markdown(nil)); got != "No findings.\n" {
		t.Errorf("got %s", got)
	}
	spans := report.Markdown([]diag.Diagnostic{{Code: diag.BadValue, Pos: diag.Position{File: "a`` `b"}, What: "w"}})
	if !strings.Contains(string(spans), "``` a`` `b ```") {
		t.Errorf("got %s", spans)
	}
}

// All formats have the same findings in the same order.
func TestFormatsHaveTheSameFindings(t *testing.T) {
	code := regexp.MustCompile(`MM\d{4}`)
	var want []string
	for _, d := range findings() {
		want = append(want, d.Code.String())
	}
	junit, _ := report.JUnit(findings())
	for name, text := range map[string]string{
		"junit": string(junit), "github": string(report.GitHub(findings())), "markdown": string(report.Markdown(findings())),
	} {
		if got := slices.Compact(code.FindAllString(text, -1)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
