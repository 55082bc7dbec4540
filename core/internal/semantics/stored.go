package semantics

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// AsStored returns the policy as a control plane merges it: with schema defaults, without
// fields that its version ignores (SPEC 17.5). If nothing differs, it returns p itself. It
// does not change p.
func (s Semantics) AsStored(p *resource.Policy) *resource.Policy {
	if !s.isKuma() {
		return p
	}
	var copied *resource.Policy
	// change replaces the conf to which place returns a pointer. Index is the index of its
	// item in the array.
	change := func(c resource.Conf, array string, index int, place func(*resource.Policy) *resource.Conf) {
		next, defaults, unread := s.storedConf(c)
		if next == c && len(defaults) == 0 && len(unread) == 0 {
			return
		}
		copied = copyOf(copied, p)
		*place(copied) = next
		for _, pointer := range defaults {
			copied.SchemaDefaults = append(copied.SchemaDefaults, resource.SchemaDefault{Index: index, Pointer: pointer})
		}
		for _, pointer := range unread {
			copied.Unread = append(copied.Unread, resource.UnreadField{Array: array, Index: index, Pointer: pointer})
		}
	}
	for i := range p.To {
		change(p.To[i].Conf, "to", i, func(p *resource.Policy) *resource.Conf { return &p.To[i].Conf })
	}
	for i := range p.Gateway {
		change(p.Gateway[i].Conf, "to", i, func(p *resource.Policy) *resource.Conf { return &p.Gateway[i].Conf })
	}
	for i := range p.From {
		change(p.From[i].Conf, "from", i, func(p *resource.Policy) *resource.Conf { return &p.From[i].Conf })
	}
	for i := range p.Rules {
		change(p.Rules[i].Conf, "rules", i, func(p *resource.Policy) *resource.Conf { return &p.Rules[i].Conf })
		matches := conf.InKuma(p.Rules[i].Matches)
		if slices.ContainsFunc(matches, func(m conf.Match) bool { return m.SpiffeID != nil && m.SpiffeID.Type == conf.SpiffeIDTextPrefix }) {
			copied = copyOf(copied, p)
			copied.Rules[i].Matches = matches
		}
	}
	if p.Default != nil {
		change(p.Default, "default", 0, func(p *resource.Policy) *resource.Conf { return &p.Default })
	}
	if copied == nil {
		return p
	}
	return copied
}

// copyOf returns a copy of a policy whose items may be replaced: the given one, if there is one.
func copyOf(copied, p *resource.Policy) *resource.Policy {
	if copied != nil {
		return copied
	}
	shallow := *p
	shallow.From, shallow.Rules, shallow.To = slices.Clone(p.From), slices.Clone(p.Rules), slices.Clone(p.To)
	shallow.Gateway = slices.Clone(p.Gateway)
	return &shallow
}

// storedConf returns the conf that a control plane merges instead of c. The JSON pointers are
// the fields that its schema sets, and the fields that it does not read.
func (s Semantics) storedConf(c resource.Conf) (stored resource.Conf, defaults, unread []string) {
	stored = c
	if ordered, is := stored.(kumaConf); is {
		stored = ordered.InKuma()
	}
	if versioned, is := stored.(kuma3Conf); is && s == Kuma3 {
		stored, unread = versioned.InKuma3()
	}
	if defaulter, is := stored.(schemaDefaulter); is {
		stored, defaults = defaulter.WithSchemaDefaults()
	}
	return stored, defaults, unread
}

// kumaConf is a Conf that a control plane of Kuma merges in another form.
type kumaConf interface {
	// InKuma returns a copy of the conf in that form, or the conf itself.
	InKuma() resource.Conf
}

// kuma3Conf is a Conf with fields that Kuma 3 does not read.
type kuma3Conf interface {
	// InKuma3 returns a copy of the conf without these fields, and the JSON pointers of
	// the fields that it left out. If the conf has none of them, it returns the conf itself.
	InKuma3() (resource.Conf, []string)
}

// schemaDefaulter is a Conf with fields that Kuma's schema sets if they are absent. In a
// merge, an absent field has another meaning.
type schemaDefaulter interface {
	// WithSchemaDefaults returns a copy of the conf with these fields set, and the JSON
	// pointers of the fields that it set. If the conf has all of them, it returns the
	// conf itself.
	WithSchemaDefaults() (resource.Conf, []string)
}
