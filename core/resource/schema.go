package resource

import (
	"encoding/json"
	"slices"
)

// jsonSchema is an OpenAPI schema in the structural form that Kubernetes requires, as JSON
// decodes it. The caller must not change it.
type jsonSchema = map[string]any

// described is implemented by the types for which confgen generates a schema.
type described interface{ Schema() string }

// The extensions of Kubernetes in a schema.
const (
	preserveUnknown = "x-kubernetes-preserve-unknown-fields"
	validations     = "x-kubernetes-validations"
)

// anyObject is the schema of an object with any fields.
func anyObject() jsonSchema { return jsonSchema{"type": "object", preserveUnknown: true} }

// schemaOf returns the generated schema of a type, or the schema of any object if the type has
// none.
func schemaOf(generated string) jsonSchema {
	if generated == "" {
		return anyObject()
	}
	var s jsonSchema
	if err := json.Unmarshal([]byte(generated), &s); err != nil {
		panic("resource: a generated schema is not JSON: " + err.Error())
	}
	return s
}

// Schema returns the generated schema of the Conf type as JSON, or "" if confgen was not
// asked for one.
func (confType[T, M, P, Q]) Schema() string {
	if conf, ok := any((*T)(nil)).(described); ok {
		return conf.Schema()
	}
	return ""
}

// SpecSchema returns the schema of the spec of policies of the kind. It accepts every
// spec that a [Loader] accepts, and refuses what an OpenAPI schema can express.
func (k *Kind) SpecSchema() jsonSchema {
	properties := jsonSchema{"targetRef": k.topSchema()}
	var present []any
	part := func(name string, s jsonSchema) {
		properties[name] = s
		present = append(present, jsonSchema{"required": []string{name}})
	}
	if section := k.toSection(); section != nil {
		part("to", k.itemsSchema("to", section))
	}
	if k.From != nil {
		part("from", k.itemsSchema("from", k.From))
	}
	var rules []any
	if k.Rules != nil {
		part("rules", k.Rules.rulesSchema())
		part("default", schemaOf(k.Rules.Conf.Schema()))
		rules = append(rules, rule("!has(self.rules) || !has(self.default)", "default and rules are both present; a default means one rule without matches"))
		if k.From != nil {
			rules = append(rules, rule("!has(self.from) || !has(self.rules) && !has(self.default)", "from and rules are both present; rules take the place of from"))
		}
	}
	s := jsonSchema{"type": "object", "properties": properties}
	switch {
	case k.Default != nil:
		properties["default"] = schemaOf(k.Default.Conf.Schema())
		s["required"] = []string{"default"}
	case k.ItemsRequired:
		rules = append(rules, rule(k.hasItems(), "the policy has no items: it sets nothing"))
	default:
		s["anyOf"] = present
	}
	if rules != nil {
		s[validations] = rules
	}
	return s
}

// hasItems returns the condition of CEL that a policy has items, or rules.
func (k *Kind) hasItems() string {
	condition := ""
	or := func(term string) {
		if condition != "" {
			condition += " || "
		}
		condition += term
	}
	if k.toSection() != nil {
		or("has(self.to) && size(self.to) > 0")
	}
	if k.From != nil {
		or("has(self.from) && size(self.from) > 0")
	}
	if k.Rules != nil {
		or("has(self.rules) || has(self.default)")
	}
	return condition
}

func rule(condition, message string) jsonSchema {
	return jsonSchema{"rule": condition, "message": message}
}

// toSection returns the section of `to`, with the targetRefs of items for the listeners
// of gateways. It is nil if policies of the kind have no `to`.
func (k *Kind) toSection() *Section {
	switch {
	case k.Gateway == nil:
		return k.To
	case k.To == nil:
		return k.Gateway
	}
	both := *k.To
	both.Targets |= k.Gateway.Targets
	return &both
}

// itemsSchema returns the schema of `to` or `from`.
func (k *Kind) itemsSchema(array string, section *Section) jsonSchema {
	place := k.itemPlace(array, section, "")
	target, conf := place.schema(), schemaOf(section.Conf.Schema())
	if !section.Inline {
		return list(jsonSchema{"type": "object", "properties": jsonSchema{"targetRef": target, "default": conf}, "required": []string{"default"}})
	}
	if properties, ok := conf["properties"].(jsonSchema); ok {
		properties["targetRef"] = target
	}
	return list(conf)
}

// rulesSchema returns the schema of `rules`.
func (s *Section) rulesSchema() jsonSchema {
	properties := jsonSchema{"default": schemaOf(s.Conf.Schema())}
	if s.Matches {
		properties["matches"] = list(schemaOf(requestMatch.Schema()))
	}
	return list(jsonSchema{"type": "object", "properties": properties, "required": []string{"default"}})
}

func list(item jsonSchema) jsonSchema { return jsonSchema{"type": "array", "items": item} }

func (k *Kind) topSchema() jsonSchema {
	place := k.topPlace("")
	return place.schema()
}

// schema returns the schema of a targetRef at the place.
func (p *targetPlace) schema() jsonSchema {
	text := jsonSchema{"type": "string"}
	texts := jsonSchema{"type": "object", "additionalProperties": text}
	s := jsonSchema{"type": "object", "properties": jsonSchema{
		"kind": jsonSchema{"type": "string", "enum": p.allowed.Names()}, "name": text, "namespace": text, "mesh": text, "tags": texts, "labels": texts,
		"sectionName": jsonSchema{"type": "string", "minLength": 1},
	}}
	conditions := []any{jsonSchema{"anyOf": []any{jsonSchema{"required": []string{"kind"}}, jsonSchema{"maxProperties": 0}}}}
	// allows adds the condition that only some kinds have a field.
	allows := func(field string, has func(TargetKind) bool) {
		with := p.kindsWith(has)
		switch {
		case len(with) == 0:
			delete(s["properties"].(jsonSchema), field)
		case len(with) < len(p.allowed.Names()):
			conditions = append(conditions, jsonSchema{"anyOf": []any{isKind(with), jsonSchema{"not": jsonSchema{"required": []string{field}}}}})
		}
	}
	// needs adds the condition that some kinds have one of the fields.
	needs := func(needed func(TargetKind) bool, fields ...string) {
		if kinds := p.kindsWith(needed); len(kinds) > 0 {
			either := []any{jsonSchema{"not": isKind(kinds)}}
			for _, field := range fields {
				either = append(either, jsonSchema{"required": []string{field}})
			}
			conditions = append(conditions, jsonSchema{"anyOf": either})
		}
	}
	labelled := func(k TargetKind) bool { return k == TargetDataplane || p.refersTo(k) }
	allows("namespace", func(k TargetKind) bool { return hasNamespace(k) || p.refersTo(k) })
	allows("tags", hasTags)
	allows("labels", labelled)
	allows("sectionName", p.hasSection)
	if p.top {
		s["properties"].(jsonSchema)["proxyTypes"] = jsonSchema{"type": "array", "minItems": 1, "items": jsonSchema{"type": "string", "enum": proxyTypeWord("").Enum()}}
		allows("proxyTypes", hasProxyTypes)
	}
	needs(func(k TargetKind) bool { return !hasProxyTypes(k) && !labelled(k) }, "name")
	needs(func(k TargetKind) bool { return p.refersTo(k) }, "name", "labels")
	needs(func(k TargetKind) bool { return k == TargetMeshServiceSubset }, "tags")
	if len(p.kindsWith(labelled)) > 0 {
		conditions = append(conditions, jsonSchema{"not": jsonSchema{"required": []string{"name", "labels"}}})
	}
	s["allOf"] = conditions
	return s
}

// kindsWith returns the allowed kinds for which a condition holds.
func (p *targetPlace) kindsWith(holds func(TargetKind) bool) []string {
	return slices.DeleteFunc(p.allowed.Names(), func(name string) bool {
		kind, _ := ParseTargetKind(name)
		return !holds(kind)
	})
}

// isKind returns the condition that a targetRef has one of the kinds.
func isKind(kinds []string) jsonSchema {
	return jsonSchema{"required": []string{"kind"}, "properties": jsonSchema{"kind": jsonSchema{"enum": kinds}}}
}
