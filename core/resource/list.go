package resource

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// kubernetesList is the output of `kubectl get` for several objects, and the
// response of the API server.
type kubernetesList struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   *strict.Value   `json:"metadata,omitzero"`
	Items      []*strict.Value `json:"items"`
}

// kumaList is the output of `kumactl get` for several resources. Next is null
// or the address of the next page.
type kumaList struct {
	Total *uint64         `json:"total,omitzero"`
	Items []*strict.Value `json:"items"`
	Next  *strict.Value   `json:"next,omitzero"`
}

// isList reports whether the document is a list of documents. Errors identify
// its documents as items[0], items[1] and so on.
func (d *decoder) isList(in *strict.Value) bool {
	kind := in.FieldText("kind")
	switch {
	case in.Has("type"):
		return false
	case !in.Has("kind"):
		return in.Has("items") && !in.Has("metadata")
	case kind == "List":
		return true
	}
	ours := groupOf(in.FieldText("apiVersion")) == KumaGroup
	return strings.HasSuffix(kind, "List") && (ours || in.Has("items")) && !d.isKnown(kind)
}

func (d *decoder) list(in *strict.Value) {
	if !in.Has("kind") {
		var list kumaList
		strict.Decode(in, &list)
		if list.Next != nil && !list.Next.IsNull() {
			morePages(list.Next.At())
		}
		outer := d.inRESTList
		d.inRESTList = d.origin != InputWritten && in.Has("total")
		d.items(list.Items, "")
		d.inRESTList = outer
		return
	}
	var list kubernetesList
	strict.Decode(in, &list)
	if list.Metadata != nil && list.Metadata.Field("continue").Text() != "" {
		morePages(list.Metadata.At().Field("continue"))
	}
	if groupOf(list.APIVersion) == KumaGroup {
		d.items(list.Items, "")
		return
	}
	d.items(list.Items, strings.TrimSuffix(list.Kind, "List"))
}

func morePages(at *diag.At) {
	at.Warnf(diag.MorePages, "read all pages and join them", "there are more pages: the resources on them are missing")
}

// items decodes the items of a list. The items of a list such as Kubernetes'
// PodList have no kind; they are skipped as documents of the given kind.
func (d *decoder) items(items []*strict.Value, kind string) {
	d.each(items, func(d *decoder, item *strict.Value) {
		if kind != "" && !item.Has("kind") && !item.Has("type") {
			count(&d.out.Skipped, kind, 1)
		} else {
			d.document(item)
		}
	})
}
