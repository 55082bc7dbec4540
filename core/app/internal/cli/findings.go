package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/report"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// reports are the outputs of findings beyond the outputs of all commands.
var reports = map[string]func([]diag.Diagnostic) ([]byte, error){
	"sarif":  func(f []diag.Diagnostic) ([]byte, error) { return report.SARIF(f, versionName()) },
	"junit":  report.JUnit,
	"github": func(f []diag.Diagnostic) ([]byte, error) { return report.GitHub(f), nil },
	"md":     func(f []diag.Diagnostic) ([]byte, error) { return report.Markdown(f), nil },
}

// findingFlags adds the flags of a command that has findings: its outputs, and which findings
// decide on the exit status.
func (g *globals) findingFlags(c *cobra.Command, failOn *failOn) {
	g.moreOutputs(c, "sarif", "junit", "github", "md")
	c.Flags().Var(failOn, "fail-on", "the `CODE` or class of findings that make the exit status 1; may be repeated")
}

// isReport reports whether the answer is the findings alone.
func (g *globals) isReport() bool { return reports[g.output.word] != nil }

// writeReport writes findings in a format of their own.
func (g *globals) writeReport(c *cobra.Command, findings []diag.Diagnostic) error {
	data, err := reports[g.output.word](diag.Sorted(findings))
	if err != nil {
		return err
	}
	_, err = c.OutOrStdout().Write(data)
	return err
}

// failOn is the value of --fail-on: codes, and classes.
type failOn struct {
	codes   []diag.Code
	classes []diag.Class
}

func (f *failOn) String() string {
	return strings.Join(append(lists.Map(f.codes, diag.Code.String), classWords(f.classes)...), ",")
}

func (f *failOn) Set(word string) error {
	if code, known := diag.ParseCode(word); known {
		f.codes = append(f.codes, code)
		return nil
	}
	class := diag.Class(word)
	if !slices.Contains(diag.Classes(), class) {
		return fmt.Errorf("%s", diag.WithHint("is neither a code nor a class", diag.DidYouMean(word, failOnWords(word))))
	}
	f.classes = append(f.classes, class)
	return nil
}

func (*failOn) Type() string { return "finding" }

func (f *failOn) given() bool { return len(f.codes)+len(f.classes) > 0 }

// any reports whether any of the findings is an error or one of those. The class warning
// chooses each warning of any class.
func (f *failOn) any(findings []diag.Diagnostic) bool {
	return slices.ContainsFunc(findings, func(d diag.Diagnostic) bool {
		class := d.Code.Class()
		return class == diag.ClassError || slices.Contains(f.codes, d.Code) || slices.Contains(f.classes, class) ||
			class.IsWarning() && slices.Contains(f.classes, diag.ClassWarning)
	})
}

// asksForAccess reports whether what opens or what closes is chosen. A comparison that is not
// complete then fails, because its answer may lack a finding.
func (f *failOn) asksForAccess() bool {
	return slices.ContainsFunc(f.classes, func(c diag.Class) bool { return c == diag.ClassOpens || c == diag.ClassCloses }) ||
		slices.ContainsFunc(f.codes, func(c diag.Code) bool { return c == diag.AccessOpens || c == diag.AccessCloses })
}

// classList returns the classes of findings that check has, except error and warning.
func classList() string {
	var words []string
	for _, class := range diag.Classes() {
		switch class {
		case diag.ClassError, diag.ClassWarning, diag.ClassOpens, diag.ClassCloses, diag.ClassDrains:
		default:
			words = append(words, string(class))
		}
	}
	return listed(words)
}

// failOnWords returns the classes, or for a word that looks like a code the codes.
func failOnWords(word string) []string {
	if strings.HasPrefix(strings.ToUpper(word), "MM") {
		return codeNames()
	}
	return classWords(diag.Classes())
}

func classWords(classes []diag.Class) []string {
	return lists.Map(classes, func(class diag.Class) string { return string(class) })
}
