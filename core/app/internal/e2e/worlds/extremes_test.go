package worlds

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
)

const (
	// extremeShare is the share of the edits of one value that are tried; SOAK divides it.
	extremeShare = 6
	// extremeMixtures is how many mixtures of three edits are tried for each kind; SOAK
	// multiplies it.
	extremeMixtures = 50
	// partsEach is how many changed bootstraps one Envoy validates.
	partsEach = 150
)

// Envoy accepts what documents with extreme values become, if they are valid. Policies with
// all fields, and the mesh around them, get values at the limits of each type, much longer
// texts and lists, and texts with a meaning in another place. Random meshes have small
// alphabets, so none of them has such a value.
func TestEnvoyAcceptsExtremeValues(t *testing.T) {
	binary := envoytest.Path(t)
	dir := t.TempDir()
	envoytest.NewAuthority(t).WriteFiles(t, dir, "dataplane", "spiffe://default.mesh.local/dataplane")
	base := documentsOf(t, dir, "world")
	for _, kind := range kinds.All().All() {
		t.Run(kind.Name, func(t *testing.T) {
			w := &extremeWorld{t: t, dir: dir, binary: binary, base: base, edited: documentsOf(t, dir, kind.Name), seen: map[string]bool{}}
			w.run("web", "redirected", "edge")
		})
	}
	t.Run("the mesh", func(t *testing.T) {
		w := &extremeWorld{t: t, dir: dir, binary: binary, edited: base, seen: map[string]bool{}}
		w.run("web", "redirected", "edge", "backend-1")
	})
}

// documentsOf returns the documents of a file of fieldsOfKinds. The files that Envoy reads and
// writes are in dir.
func documentsOf(t *testing.T, dir, name string) []any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fieldsOfKinds, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("/certs/cert.pem", dir+"/dataplane.pem", "/certs/key.pem", dir+"/dataplane.key", "/certs/ca.pem", dir+"/ca.pem").Replace(string(data))
	return kindtest.Documents(t, []byte(text))
}

// extremeWorld is a mesh whose documents are edited.
type extremeWorld struct {
	t            *testing.T
	dir, binary  string
	base, edited []any
	seen         map[string]bool // listeners, clusters and secrets that were tried
	parts        []part
	runs         int // of Envoy
}

// run tries the edits of the documents, and mixtures of valid edits.
func (w *extremeWorld) run(dataplanes ...string) {
	if !w.try("no edit", dataplanes) {
		w.t.Fatal("the documents are not valid without an edit")
	}
	var edits []edit
	for i := range w.edited {
		edits = append(edits, editsOf("", w.edited[i])...)
	}
	random := rand.New(rand.NewPCG(9, 9))
	share := max(1, extremeShare/fuzz.Soak(w.t))
	var valid []edit
	for _, e := range edits {
		if random.IntN(share) != 0 {
			continue
		}
		e.do()
		if w.try(e.what, dataplanes) {
			valid = append(valid, e)
		}
		e.undo()
	}
	for range extremeMixtures * fuzz.Soak(w.t) {
		var what []string
		var done []edit
		for range min(3, len(valid)) {
			e := valid[random.IntN(len(valid))]
			e.do()
			what, done = append(what, e.what), append(done, e)
		}
		w.try(strings.Join(what, ", "), dataplanes)
		for _, e := range slices.Backward(done) {
			e.undo()
		}
	}
	w.validate()
	w.t.Logf("%d edits, of which %d of %d tried ones are valid; %d runs of Envoy", len(edits), len(valid), len(edits)/share, w.runs)
	if len(valid) == 0 {
		w.t.Error("no edit is valid")
	}
}

// try adds what the documents make of dataplanes to what Envoy validates, and reports whether
// they are valid.
func (w *extremeWorld) try(what string, dataplanes []string) bool {
	inputs, err := inputsOf(w.edited)
	if err != nil {
		return false // infinity
	}
	others, err := inputsOf(w.base)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range others {
		others[i].Name = "world-" + others[i].Name
	}
	list, err := load(w.t.Context(), semantics.TargetRef, kinds.All(), what, append(others, inputs...)...)
	if err != nil {
		return false
	}
	for _, d := range list {
		if !slices.Contains(dataplanes, d.dataplane.Name) {
			continue
		}
		p, err := d.static(w.t)
		if err != nil {
			continue // an error of this dataplane is shown by every command (SPEC 11.1)
		}
		p.title = d.dataplane.Name + ": " + what
		if w.isNew(p.bootstrap) {
			w.parts = append(w.parts, p)
		}
	}
	if len(w.parts) >= partsEach {
		w.validate()
	}
	return true
}

func inputsOf(documents []any) (list []resource.Input, err error) {
	for i, document := range documents {
		data, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		list = append(list, resource.Input{Name: fmt.Sprintf("%d.json", i), Data: data})
	}
	return list, nil
}

// isNew reports whether a bootstrap has resources that were not tried. It removes the
// listeners that were.
func (w *extremeWorld) isNew(b *bootstrapv3.Bootstrap) bool {
	before := len(w.seen)
	add := func(m proto.Message) bool {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			w.t.Fatal(err)
		}
		known := w.seen[string(data)]
		w.seen[string(data)] = true
		return !known
	}
	resources := b.StaticResources
	listeners := resources.Listeners[:0]
	for _, l := range resources.Listeners {
		if add(l) {
			listeners = append(listeners, l)
		}
	}
	resources.Listeners = listeners
	for _, c := range resources.Clusters {
		add(c)
	}
	for _, s := range resources.Secrets {
		add(s)
	}
	return len(w.seen) > before
}

// validate has Envoy validate the parts so far.
func (w *extremeWorld) validate() {
	w.halve(w.parts)
	w.parts = nil
}

// halve has Envoy validate parts together and, if it refuses them, each half.
func (w *extremeWorld) halve(parts []part) {
	if len(parts) == 0 {
		return
	}
	w.runs++
	err := loadBootstrap(w.binary, w.dir, "extremes", parts)
	switch {
	case err == nil:
	case len(parts) == 1:
		w.t.Errorf("%s: %v", parts[0].title, err)
	default:
		w.halve(parts[:len(parts)/2])
		w.halve(parts[len(parts)/2:])
	}
}

// edit is a change of one value of a document.
type edit struct {
	what     string
	do, undo func()
}

// editsOf returns the edits of a tree. Envoy opens the files of logs, so their paths stay.
func editsOf(at string, value any) (edits []edit) {
	child := func(at string, old any, set func(any)) {
		for _, v := range extremesOf(old) {
			edits = append(edits, edit{at + " = " + shortened(v), func() { set(v) }, func() { set(old) }})
		}
		edits = append(edits, editsOf(at, old)...)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			old, at := value[key], at+"."+key
			set := func(v any) { value[key] = v }
			if at == ".type" || at == ".mesh" || strings.HasSuffix(at, ".file.path") || key == "eventLogPath" {
				continue
			}
			child(at, old, set)
			edits = append(edits, edit{at + " is removed", func() { delete(value, key) }, func() { set(old) }})
			if strings.HasSuffix(at, "abels."+key) || strings.HasSuffix(at, "ags."+key) {
				for _, other := range []string{strings.Repeat("k", 1000), "a/b", ":", "A", "0"} {
					edits = append(edits, edit{at + " is named " + shortened(other),
						func() { delete(value, key); value[other] = old }, func() { delete(value, other); set(old) }})
				}
			}
		}
	case []any:
		for i := range value {
			child(fmt.Sprintf("%s[%d]", at, i), value[i], func(v any) { value[i] = v })
		}
	}
	return edits
}

func shortened(v any) string {
	text, err := json.Marshal(v)
	if err != nil || len(text) <= 80 {
		return string(text)
	}
	return fmt.Sprintf("%.60s... of %d bytes", text, len(text))
}

// extremesOf returns values in the place of another one.
func extremesOf(old any) (values []any) {
	add := func(more ...any) { values = append(values, more...) }
	switch old := old.(type) {
	case string:
		for _, text := range extremeTexts {
			add(text)
		}
		add(old+old, old+" ", strings.ToUpper(old))
	case bool:
		add(!old)
	case []any:
		add([]any{})
		if len(old) == 0 {
			break
		}
		add(slices.Concat(old, old), slices.Concat(old, old[:1]), slices.Repeat(old[:1], 300))
		reversed := slices.Clone(old)
		slices.Reverse(reversed)
		add(reversed)
		for i := range old {
			add(slices.Delete(slices.Clone(old), i, i+1))
		}
		add(many(old[0])...)
	case map[string]any:
		add(map[string]any{})
	default:
		for _, n := range extremeNumbers {
			add(n)
		}
	}
	return values
}

// many returns long lists of different elements like one.
func many(one any) (lists []any) {
	var list []any
	switch one := one.(type) {
	case string:
		for i := range 2000 {
			list = append(list, fmt.Sprint(one, i))
		}
	case map[string]any:
		name, named := one["name"].(string)
		for i := 0; named && i < 500; i++ {
			next := maps.Clone(one)
			next["name"] = fmt.Sprint(name, i)
			list = append(list, next)
		}
	}
	for _, n := range []int{6, 11, 65, len(list)} {
		if n <= len(list) {
			lists = append(lists, list[:n])
		}
	}
	return lists
}

var extremeNumbers = []any{
	-1, 0, 1, 2, 3, 50, 99, 100, 101, 199, 200, 204, 299, 301, 599, 600, 999, 1000, 65534, 65535, 65536,
	1<<21 + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 53, math.MaxInt64, 0.5, 0.1, 1e-9, 1e300, 100.5,
	"0", "50%", "100", "0.5", "99.99999", "http", "1",
}

var extremeTexts = slices.Concat(
	[]string{"", "0s", "1ns", "999us", "1ms", "49ms", "50ms", "1s", "24h", "87660h", "2562047h47m15s", "2562047h47m15.999999999s", "2562047h47m16.854775807s"},
	[]string{strings.Repeat("a", 1000), strings.Repeat("a", 20_000), strings.Repeat("a", 70_000), "/" + strings.Repeat("a", 1000), strings.Repeat("a", 1000) + ":80", "http://" + strings.Repeat("a", 1000) + "/"},
	[]string{"ä", "\u212a", "\x00", "\x7f", "a\nb", "a\r\nb", "\t", " a", "a b", `"`, `\`, "/a\nb", "/a\x00b", "/a\tb"},
	[]string{"%", "%%", "%A%", "%REQ(X)%", "%REQ(:PATH)%", "%START_TIME(%Y)%", "%DYNAMIC_METADATA(a:b)%", "{{x}}", "${x}"},
	[]string{"*", "*.a", "a.*", "**", "#", "?", "/", "//", "/.", "/a/../b", "/a%2Fb", "/a?b", "/a#b", "/{x}", "/a/", "/a*", "/*", "/ä"},
	[]string{".*", "[", "(", "a|b", "a|", "|", "(?i)a", "(?i)K", `\Qa.b\E`, `\C`, `\pL`, "(?s).", "^$", "a{1000}", "(a{30}){30}", "(.*a){20}", strings.Repeat("[^a]", 200), "(?P<x>a)", `\1`, `\b`, "$", "()", "(|a)*"},
	[]string{"localhost:1", "[::1]:65535", "::1", "::", "0.0.0.0", "255.255.255.255", "fe80::1", "::ffff:1.2.3.4", "1.2.3.4", "10.0.0.0/8", "::/0", "0.0.0.0/0", "http://[::1]/", "https://a", "https://a:443/x?y=z", "http://a:0", "a:0", "a:65536", "a..b", "a.", "a.b.", "-a", "_a", "a_b", "A", "xn--a"},
	[]string{"0", "1", "50", "100", "100.0", "0.000001", "0.00001", "99.9999999", "100.1", "1e1", "0x10", "1_0", "-1", "-0", "1kbps", "0kbps", "0.1kbps", "1Mbps", "99999999Gbps", "18446744073709551615Gbps", "503", "99", "600", "5xx", "GET", "get", "CONNECT", "HttpMethodGet"},
	[]string{":path", ":authority", "host", "Host", "content-length", "x-envoy-retry-on", "cookie", "Cookie", "spiffe://a/b", "spiffe://" + strings.Repeat("a", 255) + "/" + strings.Repeat("b", 1700), "AAAA", "deadbeef", "yes", "true", "null"},
)
