package variant

import (
	"encoding/json"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The states of a merge are few: an item that sets nothing leads to no other state, and the
// order in which items set different fields does not matter. A state to which no item can add
// anything is complete.
func TestStatesOfConfMerger(t *testing.T) {
	read := func(conf resource.Conf, text string) resource.Conf {
		if err := json.Unmarshal([]byte(text), conf); err != nil {
			t.Fatal(err)
		}
		return conf
	}
	for _, test := range []struct {
		kind  string
		items []resource.Conf // two that set one field, and one that sets another field
	}{
		{"MeshTimeout", []resource.Conf{
			read(&meshtimeout.Conf{}, `{"idleTimeout": "1s"}`),
			read(&meshtimeout.Conf{}, `{"idleTimeout": "2s"}`),
			read(&meshtimeout.Conf{}, `{"connectionTimeout": "3s"}`),
		}},
		{"MeshLoadBalancingStrategy", []resource.Conf{ // it has a union
			read(&meshloadbalancingstrategy.Conf{}, `{"localityAwareness": {"disabled": true}}`),
			read(&meshloadbalancingstrategy.Conf{}, `{"localityAwareness": {"disabled": false}}`),
			read(&meshloadbalancingstrategy.Conf{}, `{"loadBalancer": {"type": "Random"}}`),
		}},
	} {
		m := newConfMerger(kinds.All().Lookup(test.kind).To.Conf, test.items)
		one := m.Add(m.Start(), 0)
		if got := m.Add(one, 1); got != one {
			t.Errorf("%s: an item that sets nothing leads from state %d to %d", test.kind, one, got)
		}
		if again := m.Add(m.Start(), 0); again != one {
			t.Errorf("%s: the same item leads to the states %d and %d", test.kind, one, again)
		}
		both := m.Add(one, 2)
		if got := m.Add(m.Add(m.Start(), 2), 0); m.content(got) != m.content(both) {
			t.Errorf("%s: another order leads to the conf %v, not %v", test.kind, m.content(got), m.content(both))
		}
		if m.Complete(one) || m.Complete(m.Start()) {
			t.Errorf("%s: a state to which an item adds a field is complete", test.kind)
		}
		if test.kind == "MeshTimeout" && !m.Complete(both) {
			t.Errorf("%s: no item can add a field, and the state is not complete", test.kind)
		}
	}
}
