package translators_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// argumentsOf are arguments of the operators that need some.
var argumentsOf = map[string]string{
	"COALESCE":        `{"operators":["PROTOCOL",{"command":"REQ","param":"x"}]}`,
	"COMMON_DURATION": "DS_RX_BEG:US_TX_END:ms",
	"METADATA":        "ROUTE:a:b",
}

// operatorForms returns each operator in the forms that Envoy accepts.
func operatorForms() (forms []string) {
	for _, name := range capability.Operators() {
		o, _ := capability.OperatorOf(name)
		text := "%" + name
		if o.NeedsArguments() {
			arguments := argumentsOf[name]
			if arguments == "" {
				arguments = "x"
			}
			text += "(" + arguments + ")"
		}
		forms = append(forms, text+"%")
		if o.TakesLength() {
			forms = append(forms, text+":5%")
		}
		if o.Accepts("x") && !o.NeedsArguments() { // the length of the prefix of an address, or the format of a time
			forms = append(forms, text+"(%Y)%")
		}
	}
	for _, arguments := range []string{
		"METADATA(DYNAMIC:a)", "METADATA(CLUSTER:a)", "METADATA(ROUTE)", "METADATA(UPSTREAM_HOST:a:b)", "METADATA(LISTENER:a)",
		"METADATA(LISTENER_FILTER_CHAIN:a)", "METADATA(VIRTUAL_HOST:a)", "FILTER_STATE(a:PLAIN)", "FILTER_STATE(a:TYPED)", "FILTER_STATE(a:FIELD:x)",
		"UPSTREAM_FILTER_STATE(a:TYPED)", "PATH(NQ)", "PATH(WQ:ORIG)", "PATH(NQ:ORIG_OR_PATH):5", "GRPC_STATUS(CAMEL_STRING)", "GRPC_STATUS(SNAKE_STRING)",
		"GRPC_STATUS(NUMBER)", "QUERY_PARAMS(DECODED)", "COMMON_DURATION(a:b)", "REQ(x?y)", "REQ(:path?x):9", "REQUEST_HEADER(x?y)", "DURATION()",
		`COALESCE({"operators":["SPAN_ID"]})`, `COALESCE({"operators":[{"command":"UPSTREAM_SERVER_NAME"},"PROTOCOL"]}):5`,
		`COALESCE({"operators":["PROTOCOL",{"command":"ROUTE_RESOLUTION_COUNT"}]})`,
	} {
		forms = append(forms, "%"+arguments+"%")
	}
	return forms
}

// badForms are what Envoy refuses.
var badForms = []string{
	"%DURATION(x)%", "%DURATION:5%", "%NO_SUCH%", "%START_TIME(%Y):5%", "%GRPC_STATUS(X)%", "%PATH(X)%", "%PATH(NQ:X)%", "%COMMON_DURATION(a)%",
	"%COMMON_DURATION(a:b:s)%", "%COMMON_DURATION(a:b:ms):5%", "%CLUSTER_METADATA(a:b):5%", "%METADATA(HOST:a)%", "%FILTER_STATE(a:OTHER)%",
	"%FILTER_STATE(a:FIELD)%", "%REQ(x?y?z)%", "%REQ(x:5)%", "%REQ(X Y)%", "%REQ%", "%QUERY_PARAMS(X)%", "%COALESCE(x)%", "%ENVIRONMENT()%",
}

// logFormats returns a policy that writes formats: one text of all, and one in JSON.
func logFormats(formats ...string) string {
	fields := make([]string, len(formats))
	for i, format := range formats {
		fields[i] = fmt.Sprintf("{key: k%d, value: %q}", i, format)
	}
	return fmt.Sprintf(`{type: MeshAccessLog, mesh: default, name: p, spec: {targetRef: {kind: Mesh}, rules: [{default: {backends: [
		{type: File, file: {path: /dev/null, format: {type: Plain, plain: %q}}},
		{type: File, file: {path: /dev/null, format: {type: Json, json: [%s]}}},
		{type: OpenTelemetry, openTelemetry: {endpoint: "10.9.9.9:4317", body: %q}}]}}]}}`, strings.Join(formats, " "), strings.Join(fields, ", "), strings.Join(formats, " "))
}

// A format of MeshAccessLog has each operator of Envoy in each form, and no other: those that a
// release lacks are replaced in what its clients get.
func TestOperatorsOfReleases(t *testing.T) {
	forms := operatorForms()
	s := &story{file: "mesh.yaml", archive: &txtar.Archive{Files: []txtar.File{{Name: "mesh.yaml", Data: []byte(logFormats(forms...))}}}}
	state := s.state(t, translators.All())
	d := state.View().Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web"})
	for _, release := range capability.Releases {
		v, err := capability.ParseVersion(release)
		if err != nil {
			t.Fatal(err)
		}
		logs, newer := 0, 0
		for _, r := range state.SnapshotFor(d, xds.EnvoyOf(v)).Resources(wire.ListenerType) {
			m, err := message.Decode(r)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprint(m)
			logs += strings.Count(text, "%RESPONSE_CODE%")
			for _, form := range forms {
				if first := capability.ReleaseOfOperator(form); first != "" && slices.Index(capability.Releases, first) > slices.Index(capability.Releases, release) {
					newer++
					if strings.Contains(text, strings.ReplaceAll(form, `"`, `\"`)) {
						t.Errorf("Envoy %s gets %s of %s", release, form, first)
					}
				}
			}
		}
		if logs == 0 || newer == 0 && release != capability.Releases[len(capability.Releases)-1] {
			t.Errorf("Envoy %s: %d logs, %d newer operators: nothing is compared", release, logs, newer)
		}
	}
	for _, bad := range badForms {
		loader := resource.Loader{Kinds: kinds.All()}
		if _, err := loader.Decode(t.Context(), resource.Input{Name: "p.yaml", Data: []byte(logFormats(bad))}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// TestOperatorsAreThoseOfEnvoy compares the tables with Envoy.
func TestOperatorsAreThoseOfEnvoy(t *testing.T) {
	envoy, version := envoytest.Path(t), envoytest.Version(t)
	directory := t.TempDir()
	refuses := func(t *testing.T, formats ...string) error {
		t.Helper()
		path, list := map[string]any{}, []any{}
		for i, format := range formats {
			path[fmt.Sprint("k", i)] = format
		}
		for _, format := range []map[string]any{
			{"text_format_source": map[string]any{"inline_string": strings.Join(formats, " ")}}, {"json_format": path},
		} {
			list = append(list, map[string]any{"name": "file", "typed_config": map[string]any{
				"@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog", "path": "/dev/null", "log_format": format,
			}})
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := yaml.Unmarshal([]byte(listenerText(filters(manager(", access_log: "+string(text), aRouter)))), &tree); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		l := &listenerv3.Listener{}
		if err := (protojson.UnmarshalOptions{Resolver: envoyapi.Types{}}).Unmarshal(data, l); err != nil {
			t.Fatal(err)
		}
		data, err = message.JSON(&bootstrapv3.Bootstrap{StaticResources: &bootstrapv3.Bootstrap_StaticResources{Listeners: []*listenerv3.Listener{l}}})
		if err != nil {
			t.Fatal(err)
		}
		return envoytest.Validate(envoy, directory, "operators", data)
	}
	var known, newer []string
	for _, form := range operatorForms() {
		if release := capability.ReleaseOfOperator(form); release != "" && !capability.ForVersion(version).Has(capability.API(release)) {
			newer = append(newer, form)
		} else {
			known = append(known, form)
		}
	}
	if err := refuses(t, known...); err != nil {
		t.Error(err)
	}
	for _, form := range newer {
		if refuses(t, form) == nil {
			t.Errorf("Envoy %s accepts %s, which the table gives to %s", version, form, capability.ReleaseOfOperator(form))
		}
		if older := capability.OlderOperator(form); older != "" {
			if err := refuses(t, older); err != nil {
				t.Errorf("%s instead of %s: %v", older, form, err)
			}
		}
	}
	for _, form := range badForms {
		if refuses(t, form) == nil {
			t.Errorf("Envoy %s accepts %s", version, form)
		}
	}
}
