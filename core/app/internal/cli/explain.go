package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

func newExplain(g *globals) *cobra.Command {
	return withHelp("explain", &cobra.Command{
		Args: exactly("CODE"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return completeCodes(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			code, known := diag.ParseCode(args[0])
			if !known {
				return usagef("%s", diag.WithHint("there is no code "+diag.OneLine(args[0]), diag.DidYouMean(args[0], codeNames())))
			}
			d := code.Definition()
			if !g.isTable() {
				return g.encode(c.OutOrStdout(), d)
			}
			_, err := io.WriteString(c.OutOrStdout(), explanation(d))
			return err
		},
	})
}

// codeNames returns all codes.
func codeNames() []string {
	return lists.Map(diag.Definitions(), func(d *diag.Definition) string { return d.Code.String() })
}

// completeCodes returns all codes with their titles, for completion.
func completeCodes() []string {
	return lists.Map(diag.Definitions(), func(d *diag.Definition) string { return cobra.CompletionWithDesc(d.Code.String(), d.Title) })
}

// explanation returns what a code means, for a terminal.
func explanation(d *diag.Definition) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s\n\n%s\n", d.Code, d.Class, d.Title, d.Means)
	if d.Example != "" {
		fmt.Fprintf(&b, "\nExample, for %s:\n\n", exampleCommand(d))
		for line := range strings.Lines(d.Example) {
			b.WriteString("  " + line)
		}
	} else {
		fmt.Fprintf(&b, "\nExample: %s\n", d.When)
	}
	fmt.Fprintf(&b, "\nFix: %s\n", d.Mend)
	return b.String()
}

// exampleCommand returns the command line that reports the example of a code.
func exampleCommand(d *diag.Definition) string {
	command := "meshmatch check -f example.yaml"
	if d.TLS {
		command += " --tls"
	}
	if d.Serve && d.Semantics != "" {
		command += " --serve"
	}
	if d.Semantics != "" {
		command += " --semantics " + d.Semantics
	}
	return command
}
