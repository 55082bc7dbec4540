package rbac_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// reference decides one request by a config, written from Envoy's documentation. It shares
// nothing with package rbac. Headers have one line, and certificates one SPIFFE ID.
type reference struct{ r *request.Request }

func (e reference) allows(config map[string]any) bool {
	if m, ok := config["matcher"].(map[string]any); ok {
		action, matched := e.matcher(m)
		return matched && action != "DENY"
	}
	rules, ok := config["rules"].(map[string]any)
	if !ok {
		return true
	}
	matched := false
	for _, p := range rules["policies"].(map[string]any) {
		policy := p.(map[string]any)
		matched = matched || e.anyOf(policy["permissions"]) && e.anyOf(policy["principals"])
	}
	return matched == (rules["action"] != "DENY")
}

func (e reference) anyOf(list any) bool {
	return slices.ContainsFunc(list.([]any), func(o any) bool { return e.rule(o.(map[string]any)) })
}

// rule compares a permission or principal.
func (e reference) rule(o map[string]any) bool {
	for field, v := range o {
		switch field {
		case "any":
			return v.(bool)
		case "and_rules", "and_ids":
			return !slices.ContainsFunc(members(v), func(o any) bool { return !e.rule(o.(map[string]any)) })
		case "or_rules", "or_ids":
			return e.anyOf(members(v))
		case "not_id", "not_rule":
			return !e.rule(v.(map[string]any))
		case "url_path":
			path, _, _ := strings.Cut(e.r.Path, "?")
			return text(path, v.(map[string]any)["path"].(map[string]any))
		case "header":
			return e.header(v.(map[string]any))
		case "authenticated":
			name, ok := v.(map[string]any)["principal_name"].(map[string]any)
			return !ok || e.r.SpiffeID != "" && text(e.r.SpiffeID, name) || text("", name)
		case "requested_server_name":
			return text(e.r.SNI, v.(map[string]any))
		}
	}
	panic(fmt.Sprint(o))
}

func members(v any) []any {
	for _, list := range v.(map[string]any) {
		return list.([]any)
	}
	panic("no members")
}

func (e reference) value(name string) (string, bool) {
	switch name {
	case ":path":
		return e.r.Path, true
	case ":method":
		return e.r.Method, true
	}
	return e.r.Headers.Get(name)
}

func (e reference) header(m map[string]any) bool {
	value, present := e.value(m["name"].(string))
	invert := m["invert_match"] == true
	if is, ok := m["present_match"].(bool); ok {
		return (present == is) != invert
	}
	return present && text(value, m["string_match"].(map[string]any)) != invert
}

func (e reference) matcher(m map[string]any) (action string, matched bool) {
	if list, ok := m["matcher_list"].(map[string]any); ok {
		for _, item := range list["matchers"].([]any) {
			item := item.(map[string]any)
			if e.predicate(item["predicate"].(map[string]any)) {
				if action, matched := e.onMatch(item["on_match"].(map[string]any)); matched {
					return action, true
				}
			}
		}
	}
	if tree, ok := m["matcher_tree"].(map[string]any); ok {
		value, present := e.input(tree["input"].(map[string]any))
		if exact, ok := tree["exact_match_map"].(map[string]any); ok && present {
			if on, ok := exact["map"].(map[string]any)[value].(map[string]any); ok {
				if action, matched := e.onMatch(on); matched {
					return action, true
				}
			}
		}
	}
	if on, ok := m["on_no_match"].(map[string]any); ok {
		return e.onMatch(on)
	}
	return "", false
}

func (e reference) onMatch(on map[string]any) (string, bool) {
	if m, ok := on["matcher"].(map[string]any); ok {
		return e.matcher(m)
	}
	action, _ := on["action"].(map[string]any)["typed_config"].(map[string]any)["action"].(string)
	return action, true
}

func (e reference) predicate(p map[string]any) bool {
	for field, v := range p {
		o := v.(map[string]any)
		switch field {
		case "single_predicate":
			value, present := e.input(o["input"].(map[string]any))
			return present && text(value, o["value_match"].(map[string]any))
		case "and_matcher":
			return !slices.ContainsFunc(o["predicate"].([]any), func(o any) bool { return !e.predicate(o.(map[string]any)) })
		case "or_matcher":
			return slices.ContainsFunc(o["predicate"].([]any), func(o any) bool { return e.predicate(o.(map[string]any)) })
		case "not_matcher":
			return !e.predicate(o)
		}
	}
	panic(fmt.Sprint(p))
}

func (e reference) input(input map[string]any) (string, bool) {
	config := input["typed_config"].(map[string]any)
	switch kind := config["@type"].(string); {
	case strings.HasSuffix(kind, "UriSanInput"):
		return e.r.SpiffeID, e.r.SpiffeID != ""
	case strings.HasSuffix(kind, "ServerNameInput"):
		return e.r.SNI, e.r.SNI != ""
	}
	return e.value(config["header_name"].(string))
}

func text(value string, m map[string]any) bool {
	if m["ignore_case"] == true {
		lower := map[string]any{}
		for k, v := range m {
			if s, ok := v.(string); ok {
				lower[k] = strings.ToLower(s)
			}
		}
		value, m = strings.ToLower(value), lower
	}
	for how, v := range m {
		switch how {
		case "exact":
			return value == v
		case "prefix":
			return strings.HasPrefix(value, v.(string))
		case "suffix":
			return strings.HasSuffix(value, v.(string))
		case "contains":
			return strings.Contains(value, v.(string))
		case "safe_regex":
			return regexp.MustCompile(`\A(?:` + v.(map[string]any)["regex"].(string) + `)\z`).MatchString(value)
		}
	}
	panic(fmt.Sprint(m))
}

// random makes configs of small alphabets, so that requests match conditions.
type random struct{ *rand.Rand }

func one[T any](r random, of ...T) T { return of[r.IntN(len(of))] }

type object = map[string]any

func (r random) text(values ...string) object {
	v := one(r, values...)
	m := one(r, object{"exact": v}, object{"prefix": v}, object{"suffix": v[len(v)/2:]}, object{"contains": v[1 : len(v)/2+1]},
		object{"safe_regex": object{"regex": strings.ReplaceAll(regexp.QuoteMeta(v), "web", ".*")}}, object{"safe_regex": object{"regex": v}}, object{"prefix": v[:len(v)-2]})
	if _, isRegex := m["safe_regex"]; !isRegex && r.IntN(5) == 0 {
		m["ignore_case"] = true
	}
	return m
}

var (
	ids   = []string{"spiffe://shop.mesh/ns/web/sa/web", "spiffe://shop.mesh/ns/web/sa/webhook", "spiffe://shop.mesh/ns/batch", "spiffe://other.mesh/ns/web", "spiffe://shopxmesh/ns/batch"}
	paths = []string{"/web", "/web/a", "/admin", "/admin.x", "/adminax"}
	names = []string{"a.web.mesh", "b.mesh"}
	tiers = []string{"gold", "Gold", "golden", "web-1"}
)

func (r random) header() object {
	switch r.IntN(4) {
	case 0:
		return object{"name": ":method", "string_match": object{"exact": one(r, "GET", "POST")}}
	case 1:
		return object{"name": ":path", "string_match": r.text(paths...)}
	case 2:
		return object{"name": "x-tier", "present_match": r.IntN(2) == 0, "invert_match": r.IntN(2) == 0}
	}
	return object{"name": "x-tier", "string_match": r.text(tiers...), "invert_match": r.IntN(3) == 0}
}

func (r random) permission(depth int) object {
	if depth > 0 && r.IntN(2) == 0 {
		a, b := r.permission(depth-1), r.permission(depth-1)
		return one(r, object{"not_rule": a}, object{"or_rules": object{"rules": []any{a, b}}}, object{"and_rules": object{"rules": []any{a, b}}})
	}
	return one(r, object{"any": r.IntN(4) > 0}, object{"header": r.header()}, object{"url_path": object{"path": r.text(paths...)}}, object{"requested_server_name": r.text(names...)})
}

func (r random) principal(depth int) object {
	if depth > 0 && r.IntN(2) == 0 {
		a, b := r.principal(depth-1), r.principal(depth-1)
		return one(r, object{"not_id": a}, object{"or_ids": object{"ids": []any{a, b}}}, object{"and_ids": object{"ids": []any{a, b}}})
	}
	return one(r, object{"any": r.IntN(4) > 0}, object{"header": r.header()}, object{"authenticated": object{}},
		object{"authenticated": object{"principal_name": r.text(ids...)}}, object{"authenticated": object{"principal_name": r.text(ids...)}})
}

func (r random) config() object {
	if r.IntN(2) == 0 {
		return object{"matcher": r.matcher(2)}
	}
	policies := object{}
	for i := range 1 + r.IntN(3) {
		policies[fmt.Sprint("p", i)] = object{"permissions": []any{r.permission(2)}, "principals": []any{r.principal(2), r.principal(1)}}
	}
	return object{"rules": object{"action": one(r, "ALLOW", "DENY"), "policies": policies}}
}

func (r random) matcher(depth int) object {
	m := object{}
	if depth > 0 && r.IntN(3) == 0 {
		entries := object{}
		for range 2 {
			entries[one(r, ids...)] = r.on(depth - 1)
		}
		m["matcher_tree"] = object{"input": inputs[0], "exact_match_map": object{"map": entries}}
	} else {
		var list []any
		for range 1 + r.IntN(3) {
			list = append(list, object{"predicate": r.predicate(2), "on_match": r.on(depth - 1)})
		}
		m["matcher_list"] = object{"matchers": list}
	}
	if r.IntN(3) > 0 {
		m["on_no_match"] = r.on(depth - 1)
	}
	return m
}

func (r random) on(depth int) object {
	if depth > 0 && r.IntN(3) == 0 {
		return object{"matcher": r.matcher(depth)}
	}
	return object{"action": object{"typed_config": object{"@type": "type.googleapis.com/envoy.config.rbac.v3.Action", "name": fmt.Sprint("a", r.IntN(9)), "action": one(r, "ALLOW", "DENY")}}}
}

func typed(kind string, more object) object {
	c := object{"@type": "type.googleapis.com/" + kind}
	maps.Copy(c, more)
	return object{"name": "x", "typed_config": c}
}

var inputs = []object{
	typed("envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput", nil),
	typed("envoy.extensions.matching.common_inputs.network.v3.ServerNameInput", nil),
	typed("envoy.type.matcher.v3.HttpRequestHeaderMatchInput", object{"header_name": ":path"}),
	typed("envoy.type.matcher.v3.HttpRequestHeaderMatchInput", object{"header_name": "x-tier"}),
}

func (r random) predicate(depth int) object {
	if depth > 0 && r.IntN(2) == 0 {
		a, b := r.predicate(depth-1), r.predicate(depth-1)
		return one(r, object{"not_matcher": a}, object{"or_matcher": object{"predicate": []any{a, b}}}, object{"and_matcher": object{"predicate": []any{a, b}}})
	}
	i := r.IntN(len(inputs))
	return object{"single_predicate": object{"input": inputs[i], "value_match": r.text([][]string{ids, names, paths, tiers}[i]...)}}
}

func (r random) request() *request.Request {
	q := &request.Request{SpiffeID: one(r, append(ids, "")...), SNI: one(r, append(names, "")...), Method: one(r, "GET", "POST"), Path: one(r, paths...) + one(r, "", "", "?web", "/x")}
	if tier := one(r, append(tiers, "")...); tier != "" {
		q.Headers = request.NewHeaders(request.Header{Name: "x-tier", Value: tier})
	}
	return q
}

// asFilters reads a config as the only filter of a chain.
func asFilters(config object) *rbac.Filters {
	f := dump.Filter{Name: "rbac", HTTP: true, Type: "envoy.extensions.filters.http.rbac.v3.RBAC", Config: dump.Object(config)}
	return rbac.New(&dump.Chain{HTTP: true, Filters: []dump.Filter{f}}, rbac.Connection{TLS: true, NoTags: true, Port: 80})
}

// TestRandomFilters compares the lists of random filters with the reference: the decision about
// each request, and the witnesses of the differences between two filters.
func TestRandomFilters(t *testing.T) {
	seeds := 200
	if testing.Short() {
		seeds = 60
	}
	space := &access.Space{Protocol: request.HTTP, NoTags: true, Queries: true}
	differences, limited, decisions := 0, 0, [2]int{}
	for seed := range seeds {
		r := random{rand.New(rand.NewPCG(uint64(seed), 19))}
		a, b := r.config(), r.config()
		x, y := asFilters(a), asFilters(b)
		equal := true
		for range 12 {
			q := r.request()
			want := reference{q}.allows(a)
			outcomes, err := access.Outcomes(space, x.Chain, q, access.Parts{}, access.Limits{})
			if err != nil || len(outcomes) != 1 || outcomes[0].Allow != want {
				t.Fatalf("seed %d: %+v: %v, %v; the reference says %v of %v", seed, q, outcomes, err, want, a)
			}
			if want {
				decisions[0]++
			} else {
				decisions[1]++
			}
			equal = equal && want == reference{q}.allows(b)
		}
		found, err := access.CompareChain(space, x.Chain[0], y.Chain, access.Limits{Work: 1 << 21})
		if limit := (*access.LimitError)(nil); errors.As(err, &limit) {
			limited++
			continue
		} else if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !equal && len(found) == 0 {
			t.Fatalf("seed %d: no difference between %v and %v", seed, a, b)
		}
		for _, d := range found {
			differences++
			if before, after := (reference{d.Witness}).allows(a), (reference{d.Witness}).allows(b); before != d.Before.Allow || after != d.After.Allow || before == after {
				t.Fatalf("seed %d: %+v: %v and %v; the reference says %v and %v of %v and %v", seed, *d.Witness, d.Before, d.After, before, after, a, b)
			}
		}
	}
	if limited > seeds/10 || differences < seeds || decisions[0] < seeds || decisions[1] < seeds {
		t.Errorf("%d differences, %v decisions, %d comparisons over a limit", differences, decisions, limited)
	}
}
