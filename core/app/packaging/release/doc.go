// Release makes what users download of a version: archives of the program for each platform,
// their sums, lists of parts, the manifest of the kubectl plugin, and an image and a chart as OCI
// layouts. See `make release`.
//
// The pipeline, a file each: documents that the program writes about itself (documents.go) ->
// a binary for each platform (build.go) -> licences of the modules that it links (licences.go)
// -> archives (archive.go) -> lists of parts (sbom.go), the plugin's manifest (krew.go), image
// and chart (oci.go) -> SHA256SUMS.
//
// Invariants: the same commit and the same Go make the same bytes, in any directory and on any
// day: all times are that of the commit, all lists are sorted, and nothing is read from the
// machine but the sources and the modules of go.sum. Nothing is uploaded.
package main
