// Package check tests the packaging: the Helm chart with a real API server, the options
// of the service, and the queries of the alert rules and the dashboard.
package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"

	"github.com/meshmatch/meshmatch/core/app/internal/crd"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes/kubetest"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

const packaging = "../.."

// render returns the objects of the chart, those without a namespace in "default".
func render(t *testing.T, values string) []kubetest.Object {
	t.Helper()
	// `make release-check` renders the chart of a release.
	chart, err := loader.Load(cmp.Or(os.Getenv("CHART"), packaging+"/chart"))
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]any{}
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		t.Fatal(err)
	}
	all, err := util.ToRenderValues(chart, given, common.ReleaseOptions{Name: "mesh", Namespace: "default"}, common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		t.Fatal(err)
	}
	var objects []kubetest.Object
	for name, text := range files {
		for _, document := range regexp.MustCompile(`(?m)^---$`).Split(text, -1) {
			o := kubetest.Object{}
			if err := yaml.UnmarshalStrict([]byte(document), &o); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
			if len(o) == 0 {
				continue // only comments
			}
			metadata := o["metadata"].(map[string]any)
			if kind := o["kind"].(string); metadata["namespace"] == nil && kind != "Namespace" && kind != "ValidatingWebhookConfiguration" && !strings.HasPrefix(kind, "Cluster") {
				metadata["namespace"] = "default"
			}
			objects = append(objects, o)
		}
	}
	return objects
}

func kindsOf(objects []kubetest.Object) []string {
	var all []string
	for _, o := range objects {
		all = append(all, o["kind"].(string))
	}
	slices.Sort(all)
	return all
}

// A real API server accepts every object of the chart, and its roles are all that a
// replica needs to read the cluster.
func TestChart(t *testing.T) {
	objects := render(t, `{systemNamespace: {create: true}, operators: ["spiffe://default.mesh.local/operator"], options: [--max-removed=10%], admission: {enabled: true, deny: [opens], caBundle: QQ==}}`)
	want := "ClusterRole ClusterRoleBinding Deployment Namespace PodDisruptionBudget Role RoleBinding Service ServiceAccount ValidatingWebhookConfiguration"
	if got := strings.Join(kindsOf(objects), " "); got != want {
		t.Fatalf("the chart has %s", got)
	}
	if slices.Contains(kindsOf(render(t, "")), "Namespace") {
		t.Error("the namespace of Kuma is created without being asked for")
	}
	if slices.Contains(kindsOf(render(t, "")), "ValidatingWebhookConfiguration") {
		t.Error("the API server asks without being told to")
	}
	for _, o := range objects {
		if strings.HasSuffix(o["kind"].(string), "Role") {
			for _, rule := range o["rules"].([]any) {
				for _, verb := range rule.(map[string]any)["verbs"].([]any) {
					if !slices.Contains([]any{"get", "list", "watch"}, verb) {
						t.Errorf("%s may %s", o["kind"], verb)
					}
				}
			}
		}
	}

	cluster := kubetest.Start(t)
	cluster.Apply(kubetest.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kuma-system"}})
	for _, o := range objects {
		if o["kind"] == "Namespace" {
			continue
		}
		if refusal := cluster.Create(o, "dryRun=All"); refusal != "" {
			t.Errorf("%s: %s", o.Path(), refusal)
		}
	}

	cluster.Install(kinds.All())
	for _, o := range objects {
		switch kind := o["kind"].(string); kind {
		case "RoleBinding", "ClusterRoleBinding":
			o["subjects"] = []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": kubetest.NobodyUser}}
			cluster.Apply(o)
		case "Role", "ClusterRole":
			cluster.Apply(o)
		}
	}
	// read returns the error of a list with the roles, with or without Secrets.
	read := func(secrets bool) (last error) {
		store, err := kubernetes.New(kubernetes.Options{
			Kubeconfig: cluster.Kubeconfig, Context: "nobody", Shapes: resource.Shapes(kinds.All(), ocm.Documents()), Secrets: secrets,
		})
		if err != nil {
			t.Fatal(err)
		}
		for page, err := range store.Follow(t.Context(), source.Since{List: true}) {
			if last = err; err != nil || !page.More {
				break
			}
		}
		return last
	}
	cluster.Wait("the roles suffice", func() bool { return read(false) == nil })
	if err := read(true); err == nil || !strings.Contains(err.Error(), "secrets is forbidden") {
		t.Errorf("the roles permit Secrets to be read, or: %v", err)
	}
	for _, o := range render(t, "secrets: true") {
		if o["kind"] == "Role" {
			cluster.Apply(o)
		}
	}
	cluster.Wait("the roles suffice for Secrets", func() bool { return read(true) == nil })
}

// The options of the Deployment and of the service are those of the command.
func TestOptions(t *testing.T) {
	help := exec.Command("go", "run", "./cmd/meshmatch", "serve", "--help")
	help.Dir = packaging + "/../../.."
	help.Env = append(os.Environ(), "GOWORK=") // that of the repository
	text, err := help.Output()
	if err != nil {
		t.Fatal(err)
	}
	option := regexp.MustCompile(`--[a-z][a-z-]*`)
	service, err := os.ReadFile(packaging + "/meshmatch.service")
	if err != nil {
		t.Fatal(err)
	}
	_, start, _ := strings.Cut(string(service), "ExecStart=")
	start, _, _ = strings.Cut(start, "\n")
	used := option.FindAllString(start, -1)
	for _, o := range render(t, `{operators: [spiffe://a/b], secrets: true}`) {
		if o["kind"] == "Deployment" {
			rendered, _ := json.Marshal(o)
			for _, arg := range regexp.MustCompile(`"args":\[(.*?)\]`).FindStringSubmatch(string(rendered))[1:] {
				used = append(used, option.FindAllString(arg, -1)...)
			}
		}
	}
	if len(used) < 15 {
		t.Errorf("only these options are used: %v", used)
	}
	for _, name := range used {
		if !strings.Contains(string(text), name+" ") {
			t.Errorf("serve has no option %s", name)
		}
	}
}

// The API server asks about every kind of policy, for at most 2 s, and goes on without an answer.
func TestAdmission(t *testing.T) {
	want := []string{"meshes", "meshidentities", "meshtrusts"}
	for _, name := range kinds.All().Names() {
		want = append(want, crd.Plural(name))
	}
	slices.Sort(want)
	for _, o := range render(t, "{admission: {enabled: true}}") {
		if o["kind"] != "ValidatingWebhookConfiguration" {
			continue
		}
		webhook := o["webhooks"].([]any)[0].(map[string]any)
		if webhook["timeoutSeconds"] != 2.0 || webhook["failurePolicy"] != "Ignore" || webhook["sideEffects"] != "None" {
			t.Errorf("the webhook is %v", webhook)
		}
		rule := webhook["rules"].([]any)[0].(map[string]any)
		if got := fmt.Sprint(rule["resources"]); got != fmt.Sprint(want) {
			t.Errorf("the API server asks about %s, want %v", got, want)
		}
		return
	}
	t.Error("there is no configuration")
}

// The rules are valid, and all queries can be parsed. The tests of core/app/internal/serve compare the
// names of metrics with those of the server.
func TestQueries(t *testing.T) {
	rules, err := os.ReadFile(packaging + "/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	promql := parser.NewParser(parser.Options{})
	groups, errs := rulefmt.Parse(rules, false, model.UTF8Validation, promql, slog.New(slog.DiscardHandler))
	if len(errs) > 0 || len(groups.Groups) != 1 || len(groups.Groups[0].Rules) < 7 {
		t.Errorf("the rules are %+v: %v", groups, errs)
	}
	text, err := os.ReadFile(packaging + "/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	if len(dashboard.Panels) < 10 {
		t.Errorf("the dashboard has %d panels", len(dashboard.Panels))
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			if _, err := promql.ParseExpr(target.Expr); err != nil {
				t.Errorf("%s: %v", panel.Title, err)
			}
		}
	}
}
