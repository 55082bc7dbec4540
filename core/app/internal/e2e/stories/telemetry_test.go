package stories

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Telemetry is compared without what arrives later: a step that expects something
// waits for it (eventually), so it must be the first to ask.

// logLines returns a step that returns the lines of a file in /run/mesh, sorted.
func logLines(name string) func(*world) string {
	return func(w *world) string {
		data, err := os.ReadFile(w.file(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.t.Error(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		slices.Sort(lines)
		return strings.Join(lines, ", ")
	}
}

// collectedLogs is a step that returns the bodies of the log records that the collector
// got, sorted.
func collectedLogs(w *world) string {
	var bodies []string
	for _, l := range w.collector.Logs() {
		bodies = append(bodies, fmt.Sprint(l.Body, l.Attributes))
	}
	slices.Sort(bodies)
	return strings.Join(bodies, ", ")
}

// collectedSpans returns a step that returns the different values that a tag has in the
// spans of the collector, sorted.
func collectedSpans(tag string) func(*world) string {
	return func(w *world) string {
		var values []string
		for _, s := range w.collector.Spans() {
			values = append(values, s.Tags[tag])
		}
		slices.Sort(values)
		return strings.Join(slices.Compact(values), ", ")
	}
}

// loggedFields returns a step that returns some of the quoted fields of the only line of a
// file in /run/mesh, without their escapes, and how many there are.
func loggedFields(name string, indexes ...int) func(*world) string {
	field := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	return func(w *world) string {
		all := field.FindAllString(logLines(name)(w), -1)
		var out []string
		for _, i := range indexes {
			if i >= len(all) {
				return ""
			}
			text, err := strconv.Unquote(all[i])
			if err != nil {
				return err.Error()
			}
			out = append(out, text)
		}
		return fmt.Sprintf("%s of %d", strings.Join(out, " | "), len(all))
	}
}

// loggingProxies is a step that returns the attributes of the proxies that sent log records
// to the collector, and whether a record ends with a newline.
func loggingProxies(w *world) string {
	var proxies []string
	for _, l := range w.collector.Logs() {
		proxies = append(proxies, fmt.Sprint(l.Resource, strings.HasSuffix(l.Body, "\n")))
	}
	slices.Sort(proxies)
	return strings.Join(slices.Compact(proxies), ", ")
}
