// Package stories tests by traffic that each policy kind has its effect (SPEC 11.5).
//
// A story is a mesh and a few steps, each with what is seen if the policies have
// their effect, and what is seen without (story_test.go). A story runs twice:
//
//  1. The mesh is loaded, and the snapshots of some of its dataplanes are built, as
//     `meshmatch snapshot --bootstrap` prints them (world_test.go).
//  2. An Envoy is started from each of these bootstraps. The inbounds of the other
//     dataplanes are workloads without a proxy (package envoytest, app_tcp_test.go).
//  3. The steps send requests (client_test.go), and compare what they see.
//
// The second run leaves out the translator of the story's kind. Its results must be
// those without the effect: so a story fails if its kind is not translated. Each kind
// has a story.
//
// Stories about certificates, which no kind translates, run once (identity_test.go).
package stories
