// Command screenshots makes the pictures of pages that README.md shows, in a Chromium:
//
//	screenshots -out DIRECTORY FILE...
//
// It serves pages of the files on a free port of loopback, and shows a dataplane and who may
// call what.
package main
