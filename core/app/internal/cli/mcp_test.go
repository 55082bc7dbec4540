package cli

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpClient is a client of a server that reads files.
func mcpClient(t *testing.T, args ...string) *mcp.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan int)
	var stderr strings.Builder
	go func() {
		defer close(ended)
		ended <- Program{}.run(ctx, append([]string{"mcp"}, args...), toServer, fromServer, &stderr)
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		fromClient.Close() // the client leaves
		if code := <-ended; code != exitDone {
			t.Errorf("exit status %d: %s", code, stderr.String())
		}
		stop()
		session.Close()
	})
	return session
}

// call returns the text of an answer, and whether it is an error.
func callTool(t *testing.T, c *mcp.ClientSession, name string, inputs map[string]any) (string, bool) {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: inputs})
	if err != nil {
		t.Fatalf("%s %v: %v", name, inputs, err)
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

// TestMCP asks each tool, and gets the JSON that the command prints.
func TestMCP(t *testing.T) {
	const demo = "../../../../testdata/demo"
	c := mcpClient(t, "-f", demo, "--semantics", "targetref")
	listed, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s may write", tool.Name)
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "access check conf diff inspect reach why" {
		t.Errorf("the tools are %s", got)
	}
	const policy = "{type: MeshTimeout, name: new, spec: {to: [{targetRef: {kind: MeshService, name: backend}, default: {connectionTimeout: 77s}}]}}"
	for _, q := range []struct {
		tool    string
		inputs  map[string]any
		command string // the same question
		stdin   string
	}{
		{"inspect", map[string]any{"dataplane": "web-1"}, "inspect dataplane web-1 --explain", ""},
		{"conf", map[string]any{"dataplane": "web-1", "kind": "MeshTimeout", "outbound": "backend"}, "conf web-1 --kind MeshTimeout --outbound backend --explain", ""},
		{"why", map[string]any{"kind": "MeshTimeout", "dataplane": "web-1"}, "why MeshTimeout web-1", ""},
		{"access", map[string]any{"dataplane": "backend-1", "inbound": "http", "from": "spiffe://x/y", "headers": []string{"a=b"}}, "access backend-1 --inbound http --from spiffe://x/y --header a=b --explain", ""},
		{"reach", map[string]any{"to": "backend"}, "reach --to backend", ""},
		{"diff", map[string]any{"apply": policy}, "diff --apply -", policy},
		{"check", nil, "check", ""},
	} {
		var want, stderr strings.Builder
		Program{}.run(t.Context(), append(strings.Fields(q.command), "-o", "json", "-f", demo, "--semantics", "targetref"), strings.NewReader(q.stdin), &want, &stderr)
		got, failed := callTool(t, c, q.tool, q.inputs)
		if failed || got != want.String() || !json.Valid([]byte(got)) {
			t.Errorf("%s: error %v, %.300s\nwant %.300s%s", q.tool, failed, got, want.String(), stderr.String())
		}
	}
	for name, q := range map[string]struct {
		tool   string
		inputs map[string]any
		want   string
	}{
		"an absent dataplane":     {"inspect", map[string]any{"dataplane": "wep-1"}, "web-1"},
		"a flag as a name":        {"inspect", map[string]any{"dataplane": "--file=/etc/passwd"}, "no dataplane"},
		"a flag as a value":       {"conf", map[string]any{"dataplane": "web-1", "kind": "--file=/etc/passwd"}, "kind"},
		"a missing input":         {"inspect", nil, "dataplane is missing"},
		"an unknown input":        {"check", map[string]any{"file": "/etc/passwd"}, `no input "file"`},
		"a malformed input":       {"access", map[string]any{"dataplane": "web-1", "headers": "a=b"}, "headers is malformed"},
		"a policy that is no one": {"diff", map[string]any{"apply": "{type: MeshTimeout, name: t, spec: {too: []}}"}, "MeshTimeout"},
	} {
		if got, failed := callTool(t, c, q.tool, q.inputs); !failed || !strings.Contains(got, q.want) {
			t.Errorf("%s: error %v, %s", name, failed, got)
		}
	}
}

// TestMCPNeedsFiles refuses standard input as the input of the mesh.
func TestMCPNeedsFiles(t *testing.T) {
	t.Setenv(fileVariable, "")
	for _, args := range [][]string{{"mcp"}, {"mcp", "-f", "-"}} {
		var stderr strings.Builder
		if code := (Program{}).run(t.Context(), args, strings.NewReader(""), io.Discard, &stderr); code != exitUsage {
			t.Errorf("%v: exit status %d: %s", args, code, stderr.String())
		}
	}
}
