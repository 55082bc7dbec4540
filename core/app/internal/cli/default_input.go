package cli

import (
	"os"
	"path/filepath"

	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes"
)

// fileVariable is the environment variable with the input of commands without -f.
const fileVariable = "MESHMATCH_FILE"

var errContextAndFiles = usagef("--context is the cluster that is read without -f; leave one of them out")

// defaultInput returns the input of a command without -f: the cluster of --context, that of
// the environment or, as a plugin of kubectl, the cluster of the current context. None is no
// input. As a plugin, names and lists of a cluster are those of a namespace, as kubectl's are.
func (g *globals) defaultInput() ([]string, error) {
	plugin := pluginName(filepath.Base(os.Args[0])) != "meshmatch"
	file := os.Getenv(fileVariable)
	switch {
	case g.context == "" && file != "":
		return []string{file}, nil
	case g.context == "" && !plugin:
		return nil, errNoFiles
	}
	if plugin && !g.allNamespaces {
		g.scoped = true
		if g.namespace == nil {
			namespace, err := kubernetes.Namespace(kubernetes.Options{Context: g.context})
			if err != nil {
				return nil, err
			}
			g.namespace = &namespace
		}
	}
	return []string{kubernetes.Scheme + g.context}, nil
}
