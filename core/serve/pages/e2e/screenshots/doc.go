// Command screenshots makes pictures of pages in a Chromium.
//
//	screenshots [-width N] [-height N] [-dark] URL FILE [URL FILE ...]
package main
