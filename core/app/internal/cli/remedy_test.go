package cli

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
)

// TestRemedies gives errors of options their flags, which the commands have.
func TestRemedies(t *testing.T) {
	for command, errs := range map[string][]error{
		"serve":     {ca.ErrNotKept, serve.ErrNotLoopback, serve.ErrKeysNotServed},
		"bootstrap": {bootstrap.ErrGRPCFiles},
	} {
		c, _, err := newRoot(Program{}.globals()).Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range errs {
			got := withFlags(fmt.Errorf("x: %w", err))
			flags := regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(got.Error(), -1)
			if len(flags) == 0 || !errors.Is(got, err) {
				t.Errorf("%v does not name a flag", got)
			}
			for _, flag := range flags {
				if c.Flag(flag[1]) == nil {
					t.Errorf("%v: %s has no such flag", got, command)
				}
			}
		}
	}
	if got := withFlags(io.EOF); got != io.EOF {
		t.Errorf("%v has flags", got)
	}
}
