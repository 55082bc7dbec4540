package resource

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// arrays records which parts a policy has, whether `to` is for the listeners of
// gateways, and whether any part has an item.
type arrays struct{ to, from, rules, single, gateway, items bool }

// checkArrays reports the parts of a policy that its kind does not have, and
// parts that exclude each other (SPEC 2.4).
func (k *Kind) checkArrays(spec *diag.At, top *TargetRef, has arrays) {
	for _, part := range []struct {
		name    string
		present bool
		section *Section
	}{{"to", has.to, k.To}, {"from", has.from, k.From}, {"rules", has.rules, k.Rules}} {
		switch {
		case !part.present || part.section != nil || part.name == "to" && has.gateway:
		case part.name == "to" && k.Gateway != nil:
			spec.Field("to").Errorf(diag.ArrayNotAllowed, "write a top-level targetRef of kind Mesh or MeshSubset that admits gateways, or of kind MeshGateway; or use "+k.arrays(), "only a policy that includes gateways has %s", "to")
		default:
			spec.Field(part.name).Errorf(diag.ArrayNotAllowed, "it has "+k.arrays(), "%s has no %s", k.Name, part.name)
		}
	}
	switch {
	case has.single && k.Default == nil:
		spec.Field("default").Errorf(diag.ArrayNotAllowed, "it has "+k.arrays(), "%s has no default", k.Name)
	case !has.single && k.Default != nil:
		k.refuseEmpty(spec).Field("default").Errorf(diag.MissingField, "", "required field is missing")
		if k.AcceptsEmpty {
			k.warnEmpty(spec)
		}
	}
	if has.to && has.rules && k.ToOrRules != 0 {
		spec.Field("to").If(k.ToOrRules).Errorf(diag.BothPresent, "write two policies", "a control plane of Kuma refuses to and rules in one %s", k.Name)
	}
	if has.from && k.NoFromBelowGateways && (top.Kind == TargetMeshGateway || top.Kind == TargetMeshHTTPRoute) {
		spec.Field("from").If(diag.AsKuma).Errorf(diag.ArrayNotAllowed, "use to", "a control plane of Kuma refuses from in a %s for a %s", k.Name, top.Kind)
	}
	if has.from && has.rules && k.From != nil && k.Rules != nil {
		spec.Field("from").Errorf(diag.BothPresent, "rules take the place of from", "from and rules are both present")
	}
}

// checkItems reports a policy that has none of its kind's arrays, or no item in them. An
// empty list of rules is only a warning (SPEC 5.6). So is any empty list if the kind
// does not require items. If the policy has errors since before, they are more exact,
// and checkItems reports nothing.
func (k *Kind) checkItems(spec *diag.At, has arrays, before int) {
	if k.Default != nil || has.items {
		return
	}
	hint := "add items to " + k.arrays() + ", or remove the policy"
	switch {
	case has.to && k.RefusesEmptyTo:
		spec.If(diag.AsTargetRef).Warnf(diag.EmptySection, hint, noItems)
		spec.If(diag.AsKuma).Errorf(diag.NoItems, hint, noItems)
	case has.rules || !k.ItemsRequired && (has.to || has.from):
		spec.Warnf(diag.EmptySection, hint, noItems)
	default:
		spec.Sink().Check(before, func() { k.refuseEmpty(spec).Errorf(diag.NoItems, hint, noItems) })
		if k.AcceptsEmpty && spec.Sink().Mark() == before {
			k.warnEmpty(spec)
		}
	}
}

const noItems = "the policy has no items: it sets nothing"

// refuseEmpty returns the place of a policy without content, in the ways to read documents
// that refuse it.
func (k *Kind) refuseEmpty(spec *diag.At) *diag.At {
	if k.AcceptsEmpty {
		return spec.If(diag.AsTargetRef)
	}
	return spec
}

func (k *Kind) warnEmpty(spec *diag.At) {
	spec.If(diag.AsKuma).Warnf(diag.EmptyPolicy, "add "+k.arrays()+", or remove the policy", noItems)
}

// matchedConf is implemented by Confs with fields that cannot depend on a
// match. ValidateMatches reports such fields in the Conf of a rule at the given
// place.
type matchedConf interface {
	ValidateMatches(at *diag.At, matches []conf.Match)
}

// placedConf is implemented by Confs of items if some policies do not allow all fields.
// ValidatePlace reports the fields that a policy with that top-level targetRef does not
// allow.
type placedConf interface {
	ValidatePlace(at *diag.At, top *TargetRef)
}

// checkItem reports fields that a policy with that targetRef does not allow in the conf of an
// item. The conf is in a field of the item, or is the item if the field is empty.
func checkItem(item *diag.At, field string, top *TargetRef, conf Conf) {
	placed, ok := conf.(placedConf)
	if !ok {
		return
	}
	if field != "" {
		item = item.Field(field)
	}
	placed.ValidatePlace(item, top)
}

// checkRule reports matches that a rule cannot have.
func (s *Section) checkRule(at *diag.At, kind *Kind, rule *Rule) {
	if rule.Matches != nil && !s.Matches {
		at.Field("matches").Errorf(diag.MatchNotAllowed, "remove it", "rules of %s have no matches", kind.Name)
	}
	if matched, ok := rule.Conf.(matchedConf); ok && len(rule.Matches) > 0 {
		matched.ValidateMatches(at.Field("default"), rule.Matches)
	}
}

// arrays returns the names of the parts that policies of the kind can have, for
// hints.
func (k *Kind) arrays() string {
	var names []string
	for _, part := range []struct {
		name    string
		section *Section
	}{{"to", k.To}, {"from", k.From}, {"rules", k.Rules}, {"default", k.Default}} {
		if part.section != nil {
			names = append(names, part.name)
		}
	}
	return strings.Join(names, ", ")
}
