// Package e2e tests the pages in a real Chromium (SPEC 15), driven by package browser. It
// runs servers of the demo mesh, of a mesh with 20,000 dataplanes, and of small ones. It
// opens their pages and uses them as a person does.
//
// `make e2e-pages` fetches axe-core, which finds what hinders people who use a keyboard or
// a screen reader, and runs the tests. In each tab that a test opens, these fail the test:
//
//   - a request to another origin than the server
//   - an error of the script, a message in the console, something that the
//     Content-Security-Policy blocked
//   - a rule of axe-core that a page breaks
//   - content that is wider than the screen, and texts that cover each other
//     (testdata/layout.js)
//
// With PICTURES=DIRECTORY, the test of each page writes a picture of the page.
package e2e
