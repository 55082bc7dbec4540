// Package xds defines the drafts of a dataplane's Envoy resources, which translators shape
// (SPEC 11).
//
//  1. Package snapshot makes a draft for each part of a dataplane, with the defaults of
//     SPEC 11: a [Cluster], [Endpoints] and [Routes] for each destination, an [Outbound],
//     an [Inbound] with a [Chain] for each filter chain, and the [Proxy] as a whole.
//  2. It passes the draft to each [Translator], in the order of a list. The translator
//     changes the messages of the draft by the effective conf of its policy kind. With the
//     methods of [Report] it reports fields that have no effect there, each as a [Warning].
//  3. The finished messages are a [Part]. A translator with Finish may change them.
//
// A draft that many dataplanes share has [Facets]. A translator asks them for a property
// of the client's dataplane; the part is then built once for each value of the property.
//
// Invariants:
//
//   - A draft belongs to one call: a translator changes it and does not keep it. Endpoints,
//     confs, policies and dataplanes are shared and must not be changed.
//   - A finished draft depends only on its defaults, the confs and the facets that a
//     translator asked for.
//
// Drafts are cached, marshalled and served by other packages.
package xds
