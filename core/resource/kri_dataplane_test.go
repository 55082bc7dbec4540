package resource_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
)

func TestParseDataplaneKRI(t *testing.T) {
	for _, d := range []resource.Meta{
		{ID: resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web"}},
		{ID: resource.ID{Kind: "Dataplane", Mesh: "m_1", Namespace: "a%5Fb", Name: "w_e%b"}, Labels: resource.NewTags(map[string]string{resource.ZoneTag: "e_%1"})},
	} {
		dataplane := resource.Dataplane{Meta: d}
		id, zone, ok := resource.ParseDataplaneKRI(dataplane.KRI(""))
		if !ok || id != d.ID || zone != d.Zone() {
			t.Errorf("%s: got %+v, zone %q, %v", dataplane.KRI(""), id, zone, ok)
		}
		if _, _, ok := resource.ParseDataplaneKRI(dataplane.KRI("http")); ok {
			t.Errorf("%s is not a dataplane", dataplane.KRI("http"))
		}
	}
	for _, text := range []string{"", "web", "kri_mt_default___web_", "kri_dp_default__web_", "kri_dp_default____web_", "xri_dp_default___web_"} {
		if id, _, ok := resource.ParseDataplaneKRI(text); ok {
			t.Errorf("%q: got %+v", text, id)
		}
	}
}
