package world

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// exportedService is a dataplane, its service and a policy for it, as `kubectl get -A -o yaml` has
// them.
//
//go:embed export.yaml
var exportedService string

// exported returns the export of 10 services.
func exported() []byte {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nitems:\n")
	for i := range 10 {
		b.WriteString(strings.NewReplacer("{service}", shape.Service(i), "{number}", strconv.Itoa(i+1)).Replace(exportedService))
	}
	b.WriteString("kind: List\nmetadata:\n  resourceVersion: \"\"\n")
	return []byte(b.String())
}

// export measures the first answer about an export.
func (w *world) export(ctx context.Context, r *Destinations) error {
	text := exported()
	times := make([]time.Duration, w.Samples)
	for i := range times {
		start := time.Now()
		loader := resource.Loader{Kinds: kinds.All()}
		set, err := loader.Decode(ctx, resource.Input{Name: "export.yaml", Data: text})
		if err != nil {
			return err
		}
		view, err := core.Options{Semantics: semantics.Kuma}.NewView(ctx, loader.Kinds, set)
		if err != nil {
			return err
		}
		d := view.Dataplanes(shape.Mesh)[0]
		outbounds := view.DestinationOutbounds(d)
		configs := view.DestinationConfs(d, measuredKind, core.Enforced).All(outbounds)
		times[i] = time.Since(start)
		if len(configs) != 10 || configs[0].Effective == nil {
			return fmt.Errorf("the export has %d outbounds, or no conf", len(configs))
		}
	}
	r.Export = percentile(times, 50)
	return nil
}
