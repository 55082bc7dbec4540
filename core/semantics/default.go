package semantics

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// WithDefaults returns a policy whose confs have the fields that Kuma's schema sets, so
// that they are merged like fields of the document (SPEC 17.5). If there is no field to
// set, it returns p itself. It does not change p.
func (s Semantics) WithDefaults(p *resource.Policy) *resource.Policy {
	return s.reader().withDefaults(p)
}

func (targetRef) withDefaults(p *resource.Policy) *resource.Policy { return p }

func (kuma) withDefaults(p *resource.Policy) *resource.Policy {
	var copied *resource.Policy
	target := func() *resource.Policy {
		if copied == nil {
			shallow := *p
			shallow.From, shallow.Rules, shallow.To = slices.Clone(p.From), slices.Clone(p.Rules), slices.Clone(p.To)
			copied = &shallow
		}
		return copied
	}
	// set completes the conf to which conf returns a pointer. Index is the index of its
	// item in the array.
	set := func(c resource.Conf, index int, conf func(*resource.Policy) *resource.Conf) {
		defaulter, has := c.(resource.SchemaDefaulter)
		if !has {
			return
		}
		completed, pointers := defaulter.WithSchemaDefaults()
		if len(pointers) == 0 {
			return
		}
		*conf(target()) = completed
		for _, pointer := range pointers {
			copied.SchemaDefaults = append(copied.SchemaDefaults, resource.SchemaDefault{Index: index, Pointer: pointer})
		}
	}
	for i := range p.To {
		set(p.To[i].Conf, i, func(p *resource.Policy) *resource.Conf { return &p.To[i].Conf })
	}
	for i := range p.From {
		set(p.From[i].Conf, i, func(p *resource.Policy) *resource.Conf { return &p.From[i].Conf })
	}
	for i := range p.Rules {
		set(p.Rules[i].Conf, i, func(p *resource.Policy) *resource.Conf { return &p.Rules[i].Conf })
	}
	if p.Default != nil {
		set(p.Default, 0, func(p *resource.Policy) *resource.Conf { return &p.Default })
	}
	if copied == nil {
		return p
	}
	return copied
}
