// Release makes what users download of a version: archives of the program for each platform,
// their sums and lists of parts. It also makes the manifest of the kubectl plugin, and an image
// and a chart as OCI layouts. See `make release`.
//
// The pipeline, a file each: documents that the program writes about itself (documents.go) ->
// a binary for each platform (build.go) -> licences of the modules that it links (licences.go)
// -> archives (archive.go) -> lists of parts (sbom.go), the plugin's manifest (krew.go), image
// and chart (oci.go) -> SHA256SUMS.
//
// Invariants: the same commit and the same Go make the same bytes, in any directory and on any
// day: all times are the commit's, and all lists are sorted. From the machine, only the
// sources and the modules of go.sum are read. Nothing is uploaded.
package main
