// Package pages answers the questions of package inspect with pages for people (SPEC 15).
//
//	GET  /                                      meshes, counts, findings by class, last changes
//	GET  /meshes/{mesh}                         the same, for one mesh
//	GET  /meshes/{mesh}/dataplanes              ?q=&page=
//	GET  /meshes/{mesh}/dataplanes/{name}       what one proxy gets, and why
//	GET  /meshes/{mesh}/policies                ?q=&kind=&page=
//	GET  /meshes/{mesh}/policies/{kind}/{name}  its text, its findings, and where it applies
//	GET  /meshes/{mesh}/access                  ?to=&from=&service=&namespace=
//	GET  /meshes/{mesh}/try                     one request, with the parameters of _access
//	POST /meshes/{mesh}/try                     the text of a policy
//	GET  /meshes/{mesh}/changes                 the last commits
//	GET  /meshes/{mesh}/rollouts                placements and rollouts
//	GET  /meshes/{mesh}/values                  ?kind=&field=&value=&page=
//	GET  /findings                              ?q=
//	GET  /search                                ?q=
//	GET  /events                                ?path=, the events of a live page
//
// With ?o=json a page's answer is JSON.
//
// A request takes these steps:
//
//  1. [New] finds the page by its path and takes the current [proxied.State]. A page is about this
//     one state, even if a newer one is published while it is made.
//  2. The page asks package inspect, as the commands and the Inspect API do, so the same
//     question has the same answer. It arranges the answer for a template. It computes
//     nothing by itself except for search and layout.
//  3. The template of the data (*.templ) escapes what it prints, in text, attributes and URLs.
//     Package templ generates Go from it. Package html/template would make the linker keep all
//     exported methods, which are 7 MB. Pictures are SVG that is made here (package layered).
//
// A page works without the script. The script replaces what changed in live pages (live.go,
// static/page.js), shows results while a user types, and refreshes relative times.
//
// Invariants:
//
//   - A page loads nothing from another origin, and has no script or style in its text. Its
//     Content-Security-Policy permits neither.
//   - Every link has the prefix, and the parts of its path are percent-encoded.
//   - Nothing that a user tries is stored.
//   - Questions that may take long are answered one at a time and end in time; other pages
//     do not wait for them.
package pages
