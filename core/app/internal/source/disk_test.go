package source

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// disk is a directory whose files are changed as people, editors and Kubernetes change
// them. The files have the times of the clock of the test, which is the clock of its
// bubble if it has one.
type disk struct {
	t   *testing.T
	dir string
}

func newDisk(t *testing.T) *disk { return &disk{t: t, dir: t.TempDir()} }

func (d *disk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *disk) write(name, content string) {
	d.t.Helper()
	d.must(os.MkdirAll(filepath.Dir(d.path(name)), 0o755))
	d.must(os.WriteFile(d.path(name), []byte(content), 0o644))
	d.stamp(name, time.Now())
}

func (d *disk) stamp(name string, at time.Time) { d.must(os.Chtimes(d.path(name), at, at)) }

func (d *disk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *disk) remove(name string)         { d.must(os.RemoveAll(d.path(name))) }
func (d *disk) rename(from, to string)     { d.must(os.Rename(d.path(from), d.path(to))) }
func (d *disk) link(target, name string)   { d.must(os.Symlink(target, d.path(name))) }
func (d *disk) replace(name, with string)  { d.write(name+"~", with); d.rename(name+"~", name) }
func (d *disk) swapLink(target, at string) { d.link(target, at+".tmp"); d.rename(at+".tmp", at) }

func dataplane(name, address string) string {
	return fmt.Sprintf("{type: Dataplane, name: %s, networking: {address: %s}}\n", name, address)
}

// change is a change of watched paths.
type change struct {
	paths   []string
	prepare func(d *disk)
	before  string // the dataplanes and their addresses before
	change  func(d *disk)
	after   string
}

const a, b = "10.0.0.1", "10.0.0.2"

// changes are those that people, editors and Kubernetes make.
var changes = map[string]change{
	"a file is edited": {[]string{"mesh.yaml"},
		func(d *disk) { d.write("mesh.yaml", dataplane("web", a)) }, "web=" + a,
		func(d *disk) { d.write("mesh.yaml", dataplane("web", b)) }, "web=" + b},
	"an editor replaces a file": {[]string{"mesh.yaml"},
		func(d *disk) { d.write("mesh.yaml", dataplane("web", a)) }, "web=" + a,
		func(d *disk) { d.replace("mesh.yaml", dataplane("web", b)) }, "web=" + b},
	"an editor replaces a file of a directory": {[]string{"mesh"},
		func(d *disk) { d.write("mesh/web.yaml", dataplane("web", a)) }, "web=" + a,
		func(d *disk) { d.replace("mesh/web.yaml", dataplane("web", b)) }, "web=" + b},
	"an editor moves a file away and writes it anew": {[]string{"mesh"},
		func(d *disk) { d.write("mesh/web.yaml", dataplane("web", a)) }, "web=" + a,
		func(d *disk) {
			d.rename("mesh/web.yaml", "mesh/web.yaml~")
			d.write("mesh/web.yaml", dataplane("web", b))
		}, "web=" + b},
	"a file is added": {[]string{"mesh"},
		func(d *disk) { d.write("mesh/web.yaml", dataplane("web", a)) }, "web=" + a,
		func(d *disk) { d.write("mesh/api.yaml", dataplane("api", b)) }, "api=" + b + " web=" + a},
	"a file is removed": {[]string{"mesh"},
		func(d *disk) {
			d.write("mesh/web.yaml", dataplane("web", a))
			d.write("mesh/api.yaml", dataplane("api", a))
		}, "api=" + a + " web=" + a,
		func(d *disk) { d.remove("mesh/api.yaml") }, "web=" + a},
	"a directory is moved in": {[]string{"mesh"},
		func(d *disk) {
			d.write("mesh/web.yaml", dataplane("web", a))
			d.write("team/deep/api.yaml", dataplane("api", a))
		}, "web=" + a,
		func(d *disk) { d.rename("team", "mesh/team") }, "api=" + a + " web=" + a},
	"the whole directory is replaced": {[]string{"mesh"},
		func(d *disk) {
			d.write("mesh/web.yaml", dataplane("web", a))
			d.write("next/web.yaml", dataplane("web", b))
		}, "web=" + a,
		func(d *disk) { d.rename("mesh", "old"); d.rename("next", "mesh") }, "web=" + b},
	"a ConfigMap is updated": {[]string{"mesh"}, writeConfigMap, "web=" + a, updateConfigMap, "web=" + b},
	"a ConfigMap is updated, and one file of it is watched": {[]string{"mesh/web.yaml"},
		writeConfigMap, "web=" + a, updateConfigMap, "web=" + b},
	"the given path is a link that changes": {[]string{"current"},
		func(d *disk) {
			d.write("v1/web.yaml", dataplane("web", a))
			d.write("v2/web.yaml", dataplane("web", b))
			d.link("v1", "current")
		}, "web=" + a,
		func(d *disk) { d.swapLink("v2", "current") }, "web=" + b},
	"several files change together": {[]string{"mesh"},
		func(d *disk) {
			d.write("mesh/web.yaml", dataplane("web", a))
			d.write("mesh/api.yaml", dataplane("api", a))
		}, "api=" + a + " web=" + a,
		func(d *disk) {
			d.write("mesh/web.yaml", dataplane("web", b))
			d.write("mesh/api.yaml", dataplane("api", b))
		}, "api=" + b + " web=" + b},
}

func writeConfigMap(d *disk) {
	d.write("mesh/..2026_1/web.yaml", dataplane("web", a))
	d.link("..2026_1", "mesh/..data")
	d.link("..data/web.yaml", "mesh/web.yaml")
}

func updateConfigMap(d *disk) {
	d.write("mesh/..2026_2/web.yaml", dataplane("web", b))
	d.swapLink("..2026_2", "mesh/..data")
	d.remove("mesh/..2026_1")
}
