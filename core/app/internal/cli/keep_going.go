package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// refuseKeepGoing returns an error for the commands whose input must be complete.
func (g *globals) refuseKeepGoing(command string) error {
	if g.keepGoing {
		return usagef("%s does not take --keep-going: it needs the whole input", command)
	}
	return nil
}

// incompleteLines returns one line for each error of what was left out:
// file:line: path: why. What both sides of a comparison lack is there once.
func (g *globals) incompleteLines() []string {
	var lines []string
	for _, left := range g.leftOut {
		for _, e := range left.Errors {
			if line := incompleteLine(e); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func incompleteLine(e diag.Diagnostic) string {
	at := e.Pos.File
	if e.Pos.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, e.Pos.Line)
	}
	e.Pos = diag.Position{File: at}
	return e.Error()
}

// reportLeftOut prints to standard error what was left out, and what that means for
// the answer.
func (g *globals) reportLeftOut(c *cobra.Command) { g.printLeftOut(c.ErrOrStderr()) }

func (g *globals) printLeftOut(to io.Writer) {
	g.reported = true
	if len(g.noResources) > 0 { // (SPEC 1.1)
		fmt.Fprintf(to, "left out: %s; --strict refuses them\n", diag.OneLine(source.NoResourceText(g.noResources)))
	}
	printed := map[string]bool{}
	for _, left := range g.leftOut {
		for _, e := range left.Errors {
			if line := incompleteLine(e); !printed[line] {
				printed[line] = true
				fmt.Fprintf(to, "incomplete: %s (%s)\n", line, g.missing(left.Kind))
			}
		}
	}
}

// decided is what an answer about access decides.
type decided uint8

const (
	allRequests decided = iota
	oneRequest
)

// unreadDecisions warns of each document or file that was left out and could change an answer
// about access (SPEC 17.1). An answer about one request depends on no other dataplane, and what is
// missing is said of this request: it may be denied.
func (g *globals) unreadDecisions(about decided) (warnings []diag.Diagnostic) {
	for _, left := range g.leftOut {
		subject, effect, hint := "a "+left.Kind+" that is not read", "deny what this answer allows, and allow what it denies", ""
		switch left.Kind {
		case "MeshTrafficPermission":
			hint = ": until then a server of a store denies what it selects, unless it has a good version of it"
		case resource.MeshIdentityKind, resource.MeshTrustKind, resource.MeshKind:
			effect = "give other identities to clients, and to inbounds the permissions that they need; what this answer allows may be denied, and what it denies may be allowed"
		case resource.DataplaneKind:
			if about == oneRequest {
				continue
			}
			subject, effect = "a Dataplane that is not read", "have inbounds and be a client, which this answer lacks"
		case "":
			subject = "a resource that is not read"
		default:
			if !ocm.IsKind(left.Kind) { // which places permissions
				continue
			}
		}
		if about == oneRequest {
			effect = "deny this request"
		}
		warnings = append(warnings, diag.Diagnostic{
			Code: diag.OpenInbound, Pos: left.Errors[0].Pos, What: subject + " may " + effect, Hint: "correct it before you rely on this answer" + hint,
		})
	}
	return warnings
}

// missing returns what an answer does not have without a document of the kind.
func (g *globals) missing(kind string) string {
	switch {
	case kind == "MeshTrafficPermission":
		return "its permissions are not in this answer"
	case kind == resource.DataplaneKind:
		return "this dataplane is not in this answer"
	case g.kinds.Lookup(kind) != nil:
		return "what this " + kind + " sets is not in this answer"
	case kind != "":
		return "this " + kind + " is not in this answer"
	}
	return "its resources are not in this answer"
}

// withIncomplete returns an answer with a field incomplete, if something was left out.
// An answer that is a list has no fields: what was left out is on standard error.
func (g *globals) withIncomplete(c *cobra.Command, answer any) any {
	if len(g.leftOut) == 0 && len(g.noResources) == 0 {
		return answer
	}
	data, err := conf.Marshal(answer)
	if err != nil {
		return answer // which has the same error when it is printed
	}
	g.reported = true
	if data[0] != '{' {
		g.reportLeftOut(c)
		return answer
	}
	fields := map[string][]string{}
	if len(g.leftOut) > 0 {
		fields["incomplete"] = g.incompleteLines()
	}
	if len(g.noResources) > 0 {
		fields["leftOut"] = lists.Map(g.noResources, diag.Position.String)
	}
	if string(data) == "{}" {
		return fields
	}
	joined, _ := resource.MarshalInline(json.RawMessage(data), fields) // both are JSON
	return json.RawMessage(joined)
}
