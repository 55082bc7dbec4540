package solver

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// process is a running z3. Without the variable Z3 the test is skipped; in CI, where CI=true, it
// fails.
type process struct {
	in  io.Writer
	out *bufio.Reader
}

func startZ3(t *testing.T) *process {
	t.Helper()
	path := os.Getenv("Z3")
	switch {
	case path != "":
	case os.Getenv("CI") == "true":
		t.Fatal("Z3 is not set; run make e2e")
	default:
		t.Skip("Z3 is not set; make e2e fetches z3 and runs this test")
	}
	z3 := exec.Command(path, "-in")
	envoytest.EndWithParent(z3)
	in, err := z3.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := z3.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := z3.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		z3.Wait()
	})
	p := &process{in, bufio.NewReader(out)}
	p.reset(t, "(declare-const text String)\n")
	return p
}

// reset removes all that was declared, and declares anew.
func (p *process) reset(t *testing.T, declarations string) {
	t.Helper()
	p.write(t, "(reset)\n"+declarations)
}

func (p *process) write(t *testing.T, script string) {
	t.Helper()
	if _, err := io.WriteString(p.in, script); err != nil {
		t.Fatal(err)
	}
}

// exists reports whether something meets a formula.
func (p *process) exists(t *testing.T, formula string) bool {
	t.Helper()
	p.write(t, "(push)\n(assert "+formula+")\n(check-sat)\n(pop)\n")
	line, err := p.out.ReadString('\n')
	switch line {
	case "sat\n":
		return true
	case "unsat\n":
		return false
	}
	t.Fatalf("z3 answers %q (%v) about %s", line, err, formula)
	return false
}

// claims are statements about requests, which z3 proves.
type claims struct {
	definitions strings.Builder
	about       []claim
}

type claim struct {
	text, formula string
	exists        bool // some request meets the formula; otherwise none does
}

// define gives a formula a name.
func (c *claims) define(name, formula string) {
	fmt.Fprintf(&c.definitions, "(define-fun %s () Bool %s)\n", name, formula)
}

// exists claims that some request meets the formula, or that none does.
func (c *claims) exists(exists bool, formula, format string, args ...any) {
	c.about = append(c.about, claim{fmt.Sprintf(format, args...), formula, exists})
}

// equal claims that two formulas are met by the same requests of a third one.
func (c *claims) equal(a, b, among, format string, args ...any) {
	c.exists(false, and(among, not("(= "+a+" "+b+")")), format, args...)
}

// proven returns an error that names the claims that are wrong.
func (c *claims) proven(t *testing.T, z3 *process, a *alphabet) error {
	t.Helper()
	z3.reset(t, "(declare-const text String)\n")
	z3.reset(t, a.restrictions(t, z3)+c.definitions.String())
	var wrong []string
	for _, claim := range c.about {
		if z3.exists(t, claim.formula) != claim.exists {
			wrong = append(wrong, fmt.Sprintf("it is not %t: %s", claim.exists, claim.text))
		}
	}
	if wrong != nil {
		return fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return nil
}
