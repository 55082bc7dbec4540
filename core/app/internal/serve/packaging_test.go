package serve

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// The alert rules and the dashboard ask for metrics that a server or a relay has.
func TestPackagedMetrics(t *testing.T) {
	known := map[string]bool{"meshmatch_load_errors": true}
	for _, name := range []string{"commit_seconds", "push_seconds"} {
		known["meshmatch_"+name+"_bucket"] = true
	}
	descs := make(chan *prometheus.Desc, 100)
	(*collector)(nil).Describe(descs)
	relayCollector{}.Describe(descs)
	newDrainLog(nil, nil).total.Describe(descs)
	close(descs)
	quoted := regexp.MustCompile(`fqName: "([a-z_]+)"`)
	for d := range descs {
		known[quoted.FindStringSubmatch(d.String())[1]] = true
	}
	for _, file := range []string{"alerts.yaml", "dashboard.json"} {
		text, err := os.ReadFile("../../packaging/" + file)
		if err != nil {
			t.Fatal(err)
		}
		used := regexp.MustCompile(`\bmeshmatch_[a-z_]+`).FindAllString(string(text), -1)
		if len(used) < 5 {
			t.Errorf("%s asks for %v", file, used)
		}
		for _, name := range used {
			if !known[name] {
				t.Errorf("%s: there is no metric %s; there are %s", file, name, strings.Join(names(known), " "))
			}
		}
	}
}

func names(set map[string]bool) []string {
	var list []string
	for name := range set {
		list = append(list, name)
	}
	return list
}
