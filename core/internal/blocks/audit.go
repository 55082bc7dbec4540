package blocks

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/results"
)

// Audit returns an error unless the reference counts match the given class
// configs and configs, which must be all holders of references. It is for tests
// of packages that use a table.
func (t *Table) Audit(classes []*ClassConfig, configs []*results.Config) error {
	confs, inbounds := map[*results.Effective]int{}, map[*inboundBlock]int{}
	for _, c := range classes {
		confs[c.config.Default]++
		for _, block := range c.inbounds {
			inbounds[block]++
		}
	}
	for _, c := range configs {
		for i := range c.Outbounds {
			confs[c.Outbounds[i].Effective]++
			for _, r := range c.Outbounds[i].Routes {
				confs[r.Effective]++
			}
		}
	}
	delete(inbounds, nil)
	for block := range inbounds {
		for _, e := range block.confs {
			confs[e]++
		}
	}
	delete(confs, nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := auditTable(&t.confs, confs); err != nil {
		return fmt.Errorf("confs: %w", err)
	}
	if err := auditTable(&t.inbounds, inbounds); err != nil {
		return fmt.Errorf("inbounds: %w", err)
	}
	return nil
}

func auditTable[T any](t *refTable[T], held map[*T]int) error {
	if len(held) != len(t.of) {
		return fmt.Errorf("%d blocks are held, the table contains %d", len(held), len(t.of))
	}
	for value, refs := range held {
		if kept := t.of[value]; kept == nil || kept.refs != refs {
			return fmt.Errorf("a block with %d references is in the table as %+v", refs, kept)
		}
	}
	if n := t.byHash.Len(); n != len(t.of) {
		return fmt.Errorf("%d blocks are found by hash, the table contains %d", n, len(t.of))
	}
	return nil
}
