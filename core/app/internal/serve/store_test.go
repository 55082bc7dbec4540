package serve_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// stored starts a server of a store.
func stored(t *testing.T, m *sourcetest.Memory, change ...func(*serve.Options)) *running {
	t.Helper()
	return start(t, nil, append([]func(*serve.Options){func(o *serve.Options) { o.Files, o.Stores = nil, []source.Store{m} }}, change...)...)
}

// write writes documents at once.
func write(m *sourcetest.Memory, documents ...sourcetest.Document) {
	put := map[resource.ID]string{}
	for _, d := range documents {
		text := ""
		if d.Spec != "" {
			text = d.Universal()
		}
		put[resource.ID{Kind: d.Kind, Mesh: "default", Name: d.Name}] = text
	}
	m.Put(put)
}

var (
	allowAll = sourcetest.Document{Kind: "MeshTrafficPermission", Name: "all", Spec: `{"from": [{"targetRef": {"kind": "Mesh"}, "default": {"action": "Allow"}}]}`}
	broken   = sourcetest.Document{Kind: "MeshTrafficPermission", Name: "broken", Spec: `{"targetRef": {"kind": "MeshService", "name": "web"}, "from": [{"targetRef": {"kind": "Mesh"}, "default": {"action": "Alow"}}]}`}
)

// storeStatus returns the part of /status about the store.
func (r *running) storeStatus() serve.StoreStatus {
	r.t.Helper()
	_, body, err := r.get("/status", nil)
	var status serve.Status
	if err != nil || json.Unmarshal([]byte(body), &status) != nil || status.Store == nil {
		r.t.Fatalf("the status is %s, %v", body, err)
	}
	return *status.Store
}

// A change of a store is served. During a loss the last state stays served, with its age.
func TestStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sourcetest.NewMemory()
		write(m, sourcetest.Dataplane("web", "127.0.0.1"), allowAll)
		r := stored(t, m)
		revision := r.storeStatus().Revision
		write(m, sourcetest.Dataplane("api", "127.0.0.2"))
		r.eventually("second dataplane", func() bool { return r.storeStatus().Revision > revision })
		r.expect("/dataplanes/kri_dp_default___api_/status", 200, "")
		m.Lose()
		write(m, sourcetest.Deleted(sourcetest.Dataplane("api", "")))
		time.Sleep(time.Minute)
		if s := r.storeStatus(); s.Connected || s.Age == nil || *s.Age < 59 || *s.Age > 62 {
			t.Errorf("after a loss of a minute: %+v", s)
		}
		r.expect("/dataplanes/kri_dp_default___api_/status", 200, "")
		r.expect("/metrics", 200, "meshmatch_store_connected 0")
		m.Restore()
		r.eventually("end of the loss", func() bool { s := r.storeStatus(); return s.Connected && *s.Age < 1 })
		r.expect("/dataplanes/kri_dp_default___api_/status", 404, "")
		r.expect("/status", 200, `"errors": []`)
	})
}

// An object that does not load is reported, and concerns only itself. A permission that
// never was good denies every client of the inbounds that it selects.
func TestInvalidObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sourcetest.NewMemory()
		write(m, sourcetest.Dataplane("web", "127.0.0.1"), allowAll)
		r := stored(t, m)
		const question = "/meshes/default/dataplanes/web/_access?inbound=80&path=/&method=GET"
		r.expect(question, 200, `"decision": "ALLOW"`)
		write(m, broken, sourcetest.Timeout("t", "soon"))
		r.eventually("invalid objects", func() bool { return len(r.storeStatus().Invalid) == 2 })
		s := r.storeStatus()
		if p := s.Invalid[1]; p.Effect != "deny" || !strings.Contains(p.Errors[0], "Alow") || !strings.HasPrefix(p.At, "memory://MeshTrafficPermission") {
			t.Errorf("reported is %+v", p)
		}
		r.expect(question, 200, `"decision": "DENY"`)
		r.expect("/metrics", 200, `meshmatch_store_invalid{kind="MeshTimeout"} 1`)
		write(m, sourcetest.Deleted(broken))
		r.eventually("deletion", func() bool { return len(r.storeStatus().Invalid) == 1 })
		r.expect(question, 200, `"decision": "ALLOW"`)
	})
}

// A server with a state directory starts without the store, with the last good versions of
// invalid objects. One without waits.
func TestStartWithoutStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, state := sourcetest.NewMemory(), t.TempDir()
		keep := func(o *serve.Options) { o.State = state }
		write(m, sourcetest.Dataplane("web", "127.0.0.1"), allowAll, sourcetest.Timeout("t", "7s"))
		r := stored(t, m, keep)
		write(m, sourcetest.Timeout("t", "soon"))
		r.eventually("invalid object", func() bool { return len(r.storeStatus().Invalid) == 1 })
		revision := r.storeStatus().Revision
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}

		// The store can be read: the last good version is still in effect.
		r = stored(t, m, keep)
		if s := r.storeStatus(); len(s.Invalid) != 1 || s.Invalid[0].Effect != "last good" {
			t.Errorf("after a restart: %+v", s)
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}

		m.Lose()
		begin := time.Now()
		r = stored(t, m, keep)
		if waited := time.Since(begin); waited < 5*time.Second || waited > 6*time.Second {
			t.Errorf("the store was asked for %v", waited)
		}
		if s := r.storeStatus(); s.Connected || s.Revision != revision || *s.Age < 4 {
			t.Errorf("without the store: %+v, want revision %d", s, revision)
		}
		r.expect("/readyz", 200, "")
		r.expect("/status", 200, "the store cannot be read at the start")
		m.Restore()
		r.eventually("the store", func() bool { return r.storeStatus().Connected })
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}

		// A damaged file is named, and the server waits.
		files, err := filepath.Glob(filepath.Join(state, "last-state-*.tar"))
		if err != nil || len(files) != 1 {
			t.Fatalf("the state is in %v, %v", files, err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil || os.WriteFile(files[0], data[:len(data)-100], 0o600) != nil {
			t.Fatal("the file cannot be damaged")
		}
		m.Lose()
		time.AfterFunc(30*time.Second, m.Restore)
		begin = time.Now()
		r = stored(t, m, keep)
		if time.Since(begin) < 30*time.Second || !strings.Contains(r.log.String(), files[0]+": the file is damaged") {
			t.Errorf("with a damaged file the server is ready after %v:\n%s", time.Since(begin), r.log)
		}
	})
}

// The older state of a store that was set back is not served, unless that is accepted.
func TestStoreSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, state := sourcetest.NewMemory(), t.TempDir()
		keep := func(o *serve.Options) { o.State = state }
		write(m, sourcetest.Dataplane("old", "127.0.0.1"))
		older := m.Copy()
		write(m, sourcetest.Dataplane("new", "127.0.0.2"))
		r := stored(t, m, keep)
		m.SetBack(older)
		r.eventually("report", func() bool { return strings.Contains(r.log.String(), "set back") })
		r.expect("/dataplanes/kri_dp_default___new_/status", 200, "")
		for i := range 5 { // the revision of the new history passes the old one
			write(m, sourcetest.Dataplane("later", fmt.Sprintf("127.0.1.%d", i+1)))
		}
		time.Sleep(time.Minute)
		r.expect("/dataplanes/kri_dp_default___later_/status", 404, "")
		r.expect("/dataplanes/kri_dp_default___new_/status", 200, "")
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		r = stored(t, m, keep)
		r.expect("/dataplanes/kri_dp_default___new_/status", 200, "")
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		r = stored(t, m, keep, func(o *serve.Options) { o.AcceptRollback = true })
		r.expect("/dataplanes/kri_dp_default___new_/status", 404, "")
		r.expect("/dataplanes/kri_dp_default___old_/status", 200, "")
	})
}

// Files and stores are served together. A resource in two places is an error that names both.
func TestFilesAndStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sourcetest.NewMemory()
		write(m, sourcetest.Dataplane("db", "127.0.0.9"))
		r := start(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) { o.Stores = []source.Store{m} })
		r.expect("/dataplanes/kri_dp_default___db_/status", 200, "")
		r.expect("/dataplanes/kri_dp_default___web_/status", 200, "")
		write(m, sourcetest.Dataplane("web", "127.0.0.8"))
		r.eventually("error", func() bool { return strings.Contains(r.log.String(), "duplicate Dataplane") })
		if log := r.log.String(); !strings.Contains(log, "memory://Dataplane/default//web@") || !strings.Contains(log, "mesh.yaml:") {
			t.Errorf("the error does not name both:\n%s", log)
		}
		r.expect("/dataplanes/kri_dp_default___web_/status", 200, "")

		// No source changes anything until one of them is removed.
		write(m, sourcetest.Dataplane("later", "127.0.0.7"))
		r.write("more.yaml", `{type: Dataplane, name: more, networking: {address: 127.0.0.6, inbound: [{port: 80, tags: {kuma.io/service: more}}]}}`)
		time.Sleep(time.Minute)
		for _, name := range []string{"later", "more"} {
			r.expect("/dataplanes/kri_dp_default___"+name+"_/status", 404, "")
		}
		write(m, sourcetest.Deleted(sourcetest.Dataplane("web", "")))
		r.eventually("changes", func() bool {
			status, _, _ := r.get("/dataplanes/kri_dp_default___later_/status", nil)
			return status == 200
		})
		r.expect("/dataplanes/kri_dp_default___more_/status", 200, "")
	})
}

// Of two stores, /status has the revision, the age and the loss of each.
func TestTwoStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := sourcetest.NewMemory(), sourcetest.NewMemory()
		first.Name, second.Name = "first", "second"
		write(first, sourcetest.Dataplane("web", "127.0.0.1"), allowAll)
		write(second, sourcetest.Dataplane("api", "127.0.0.2"))
		write(second, sourcetest.Dataplane("api", "127.0.0.3"))
		r := start(t, nil, func(o *serve.Options) { o.Files, o.Stores = nil, []source.Store{first, second} })
		s := r.storeStatus()
		if len(s.Stores) != 2 || s.Stores[0].Name != "first" || s.Stores[1].Revision <= s.Stores[0].Revision || !s.Stores[0].Connected || !s.Connected {
			t.Fatalf("the status is %+v", s)
		}
		first.Lose()
		time.Sleep(20 * time.Second)
		if s = r.storeStatus(); s.Connected || s.Stores[0].Connected || s.Stores[0].Age < 15 || !s.Stores[1].Connected || s.Stores[1].Age > 2 || *s.Age < 15 {
			t.Errorf("without the first store: %+v", s)
		}
		write(second, sourcetest.Dataplane("api", "127.0.0.4"))
		r.eventually("change of the second store", func() bool { return r.storeStatus().Stores[1].Revision > s.Stores[1].Revision })
		if s = r.storeStatus(); s.Connected || s.Stores[0].Connected {
			t.Errorf("after a change of the second store: %+v", s)
		}
		first.Restore()
		r.eventually("end of the loss", func() bool { s := r.storeStatus(); return s.Connected && s.Stores[0].Age < 2 })
		if strings.Count(r.log.String(), "the store can be read again") != 1 {
			t.Errorf("the log is %s", r.log)
		}
	})
}
