package rules

import "fmt"

// Audit compares the references that are counted with those that the given
// holders have, which must be all there are. It is for tests of whoever holds
// blocks.
func (b *Blocks) Audit(parts []*Part, configs []*Config) error {
	confs, inbounds := map[*Effective]int{}, map[*inboundBlock]int{}
	for _, p := range parts {
		confs[p.config.Default]++
		for _, block := range p.inbounds {
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
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := auditTable(&b.confs, confs); err != nil {
		return fmt.Errorf("confs: %w", err)
	}
	if err := auditTable(&b.inbounds, inbounds); err != nil {
		return fmt.Errorf("inbounds: %w", err)
	}
	return nil
}

func auditTable[T any](t *blockTable[T], held map[*T]int) error {
	if len(held) != len(t.of) {
		return fmt.Errorf("%d blocks are held, %d are kept", len(held), len(t.of))
	}
	for value, refs := range held {
		if kept := t.of[value]; kept == nil || kept.refs != refs {
			return fmt.Errorf("a block that is held %d times is kept as %+v", refs, kept)
		}
	}
	chained := 0
	for _, first := range t.byHash {
		for b := first; b != nil; b = b.next {
			chained++
		}
	}
	if chained != len(t.of) {
		return fmt.Errorf("%d blocks are found by hash, %d are kept", chained, len(t.of))
	}
	return nil
}
