// Package browser drives a Chromium for tests of pages and for their pictures.
package browser
