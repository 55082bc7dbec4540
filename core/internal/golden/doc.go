// Package golden compares the output of tests with files in txtar archives. With
// UPDATE=1 in the environment it writes these files.
//
// The questions and answers of an archive may be anything: a test gives a function from a file
// of the archive to its text.
package golden
