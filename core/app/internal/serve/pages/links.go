package pages

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// links makes the paths of pages: with the prefix, and with percent-encoded parts.
type links struct{ prefix string }

func (l links) to(parts ...string) string {
	var path strings.Builder
	path.WriteString(l.prefix)
	for _, part := range parts {
		path.WriteByte('/')
		path.WriteString(url.PathEscape(part))
	}
	if len(parts) == 0 {
		path.WriteByte('/')
	}
	return path.String()
}

func (l links) ofMesh(mesh string, parts ...string) string {
	return l.to(append([]string{"meshes", mesh}, parts...)...)
}

// ofDataplane returns the path of a dataplane.
func (l links) ofDataplane(m *resource.Meta) string {
	return l.ofMesh(m.Mesh, "dataplanes", m.Qualified())
}

// ofPolicy returns the path of a policy.
func (l links) ofPolicy(m *resource.Meta) string {
	return l.ofMesh(m.Mesh, "policies", m.Kind, m.Qualified())
}

// ofItem returns the path of an item of a policy: name is namespace/name with the field of
// the item, and source is file:line of the item.
func (l links) ofItem(mesh, kind, item, source string) string {
	name, _, _ := strings.Cut(item, " ")
	path := l.ofMesh(mesh, "policies", kind, name)
	if line := lineOf(source); line > 0 {
		path += "#" + lineID(line)
	}
	return path
}

// item returns the link to an item of a policy; see ofItem.
func (l links) item(mesh, kind, item, source string) itemLink {
	return itemLink{item, l.ofItem(mesh, kind, item, source), source}
}

// lineOf returns the line of file:line, or 0.
func lineOf(source string) int {
	line, err := strconv.Atoi(source[strings.LastIndexByte(source, ':')+1:])
	if err != nil {
		return 0
	}
	return line
}

// lineID is the id of a line of a text in its page.
func lineID(line int) string { return "L" + strconv.Itoa(line) }

// with returns a path with parameters, without those that are empty.
func with(path string, pairs ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Add(pairs[i], pairs[i+1])
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
