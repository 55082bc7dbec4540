package resource_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// countdown is a context that is canceled after a number of calls.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// At whatever point the context is canceled, a load returns no resources, and the
// loader's cache does not keep a partly decoded file.
func TestLoadCanceled(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		var text strings.Builder
		for j := range 20 {
			fmt.Fprintf(&text, "---\n{type: MeshTimeout, name: t-%d-%d, spec: {to: [{default: {idleTimeout: 1s}}]}}\n", i, j)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".yaml")), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loader := resource.Loader{Kinds: kinds.All(), Cache: new(resource.Cache)}
	for n := 0; ; n++ {
		ctx := &countdown{Context: t.Context()}
		ctx.left.Store(int64(n))
		set, err := loader.Load(ctx, dir)
		if err == nil {
			if len(set.Policies) != 80 {
				t.Errorf("%d policies after %d loads that were canceled", len(set.Policies), n)
			}
			if n < 80 {
				t.Errorf("the context was asked %d times, less than once for each document", n)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || set != nil {
			t.Fatalf("after %d: %v, %v", n, set, err)
		}
	}
}
