// Package xds builds the Envoy resources of a dataplane from its effective confs
// (SPEC 11): listeners, routes, clusters, endpoints and secrets.
package xds
