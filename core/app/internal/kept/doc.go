// Package kept keeps a content in one file over a restart (SPEC 12.1, 14.3, 16). The file is only ever
// replaced as a whole, so a process that is killed leaves the old one or the new one. Its last line is
// `sha256 HASH`, with the hash of all before it.
//
//  1. [Create] begins a temporary file beside it. The caller writes the content to the [File].
//  2. [File.Keep] puts it in the place of the file, or [File.Discard] removes it.
//  3. [Read] returns the content of a later process, or [ErrDamaged].
package kept
