package shapes

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"strings"
	"testing"

	fuzz "github.com/google/gofuzz"

	"github.com/meshmatch/meshmatch/gen/internal/random"
)

// oracle merges decoded JSON like RFC 7396, object by object from the lowest to
// the highest, with the rules of SPEC 6 for the listed places. It does not use
// Go types, and null means not set.
type oracle []struct {
	place string // a pattern of package path: /pointers/*/extras
	rule  string // concat; key FIELD...; highest FIELD (a key, highest first); union FIELD
}

var allOracle = oracle{
	{"/appendProfiles", "concat"},
	{"/filters", "concat"},
	{"/appendBehind", "concat"},
	{"/filtersBehind", "concat"},
	{"/rulesBehind", "key matches section"},
	{"/routesBehind", "key name"},
	{"/routesBehind/*/rules", "key matches section"},
	{"/routesBehind/*/tags", "concat"},
	{"/rules", "key matches section"},
	{"/routes", "key name"},
	{"/routes/*/rules", "key matches section"},
	{"/routes/*/tags", "concat"},
	{"/pointers/*/extras", "concat"},
}

var balancingOracle = oracle{
	{"/loadBalancer", "union type"},
	{"/loadBalancer/appended", "concat"},
	{"/loadBalancer/behind", "concat"},
	{"/zones", "key name"},
	{"/ranked", "highest name"},
	{"/ranked/*/loadBalancer", "union type"},
	{"/ranked/*/loadBalancer/appended", "concat"},
	{"/ranked/*/loadBalancer/behind", "concat"},
	{"/rankedBehind", "highest name"},
	{"/rankedBehind/*/loadBalancer", "union type"},
	{"/rankedBehind/*/loadBalancer/appended", "concat"},
	{"/rankedBehind/*/loadBalancer/behind", "concat"},
	{"/rankedPtrs", "highest name"},
	{"/rankedPtrs/*/loadBalancer", "union type"},
	{"/rankedPtrs/*/loadBalancer/appended", "concat"},
	{"/rankedPtrs/*/loadBalancer/behind", "concat"},
	{"/zones/*/loadBalancer", "union type"},
	{"/zones/*/loadBalancer/appended", "concat"},
	{"/zones/*/loadBalancer/behind", "concat"},
	{"/balancers", "key name"},
	{"/balancers/*", "union type"},
	{"/services/*", "union type"},
	{"/services/*/appended", "concat"},
	{"/services/*/behind", "concat"},
	{"/pointers/*", "union type"},
	{"/pointers/*/appended", "concat"},
	{"/pointers/*/behind", "concat"},
}

func (o oracle) rule(place string) (word string, fields []string) {
	for _, r := range o {
		if ok, _ := path.Match(r.place, place); ok {
			words := strings.Fields(r.rule)
			return words[0], words[1:]
		}
	}
	return "", nil
}

// merge returns the merge of high over low at a place; low is nil if the place is
// not set.
func (o oracle) merge(place string, low, high any) any {
	word, fields := o.rule(place)
	switch high := high.(type) {
	case nil:
		return low
	case []any:
		switch list, _ := low.([]any); word {
		case "concat":
			return append(append([]any{}, list...), high...)
		case "key":
			return o.byKey(place, list, high, fields)
		case "highest":
			merged := o.byKey(place, list, high, fields)
			others := len(merged) - len(o.byKey(place, nil, high, fields))
			return append(append([]any{}, merged[others:]...), merged[:others]...)
		}
	case map[string]any:
		object, _ := low.(map[string]any)
		if word == "union" && object != nil && object[fields[0]] != high[fields[0]] {
			object = nil
		}
		merged := make(map[string]any)
		maps.Copy(merged, object)
		for k, v := range high {
			if v = o.merge(place+"/"+escape(k), merged[k], v); v != nil {
				merged[k] = v
			}
		}
		return merged
	}
	return high
}

func (o oracle) byKey(place string, list, high []any, fields []string) []any {
	list = append([]any{}, list...)
	for _, x := range high {
		if x == nil {
			continue
		}
		var low any
		for i, y := range list {
			if sameKey(x, y, fields) {
				low, list = y, append(list[:i:i], list[i+1:]...)
				break
			}
		}
		list = append(list, o.merge(place+"/0", low, x))
	}
	return list
}

func sameKey(a, b any, fields []string) bool {
	for _, f := range fields {
		if !reflect.DeepEqual(a.(map[string]any)[f], b.(map[string]any)[f]) {
			return false
		}
	}
	return true
}

func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

func decode(t *testing.T, conf any) any {
	t.Helper()
	text, err := json.Marshal(conf)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// agree compares the merger with the oracle for random confs.
func agree[T any](t *testing.T, o oracle, merge func(confs []*T) *T) {
	next := random.Confs[T](7, list[Words], list[Profiles], list[Rules], list[[]*Route], list[Zones])
	for round := range 400 {
		confs := make([]*T, 1+round%6)
		var want any
		for i := range confs {
			confs[i] = next()
			want = o.merge("", want, decode(t, confs[i]))
		}
		if got := decode(t, merge(confs)); !reflect.DeepEqual(got, want) {
			for i, c := range confs {
				t.Logf("conf %d: %s", i, text(c))
			}
			t.Fatalf("round %d: merged to\n%s\nthe oracle has\n%s", round, text(got), text(want))
		}
	}
}

// list avoids pointers to a nil list. Their JSON is null, which the oracle treats as
// not set.
func list[L ~[]E, E any](l *L, c fuzz.Continue) {
	*l = make(L, c.Intn(3))
	for i := range *l {
		c.Fuzz(&(*l)[i])
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(b)
}

func TestMergedAsTheOracleDoes(t *testing.T) {
	t.Run("All", func(t *testing.T) {
		agree(t, allOracle, func(confs []*All) *All { return mergeAll(confs).Conf() })
	})
	t.Run("Timeout", func(t *testing.T) {
		agree(t, nil, func(confs []*Timeout) *Timeout {
			m := new(mergerOfTimeout)
			for i := len(confs) - 1; i >= 0; i-- {
				m.Fill(confs[i], i)
			}
			return m.Conf()
		})
	})
	t.Run("Balancing", func(t *testing.T) {
		agree(t, balancingOracle, func(confs []*Balancing) *Balancing {
			m := new(mergerOfBalancing)
			for i := len(confs) - 1; i >= 0; i-- {
				m.Fill(confs[i], i)
			}
			return m.Conf()
		})
	})
}

// mergeAll merges confs in ascending priority.
func mergeAll(confs []*All) *mergerOfAll {
	m := new(mergerOfAll)
	for i := len(confs) - 1; i >= 0; i-- {
		m.Fill(confs[i], i)
	}
	return m
}
