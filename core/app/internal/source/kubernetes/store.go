package kubernetes

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Scheme begins the address of a cluster: k8s://CONTEXT.
const Scheme = "k8s://"

// SystemNamespace is the namespace of Kuma's control plane, unless [Options] name another
// one.
const SystemNamespace = resource.SystemNamespace

// Options are the options of a [Store].
type Options struct {
	// Context is a context of the kubeconfig; empty: its current one or, without a
	// kubeconfig, the cluster in which the program runs.
	Context string
	// Kubeconfig is a file; empty: the files of the variable KUBECONFIG, or ~/.kube/config.
	Kubeconfig string
	// Shapes are the kinds to read; see [resource.Shapes].
	Shapes []resource.Shape
	// SystemNamespace has the ConfigMaps with the virtual addresses of service tags;
	// empty: [SystemNamespace].
	SystemNamespace string
	// Secrets also reads the Secrets of Kuma in that namespace that a MeshExternalService
	// names. They contain private keys.
	Secrets bool
}

// Store is the resources of a cluster. It is safe for concurrent use.
type Store struct {
	name   string
	kinds  map[groupKind]bool
	system string
	// secrets is [Options.Secrets].
	secrets bool
	base    *url.URL
	client  *http.Client

	mu sync.Mutex
	// floors are the resource versions of the kinds in the newest state that was passed
	// on.
	floors map[groupKind]uint64
	// histories are what was known of the kinds when the last Follow ended. None is changed.
	histories map[groupKind]history
}

// groupKind identifies a kind of objects.
type groupKind struct{ group, kind string }

// New returns a store. It reads the configuration of the cluster and does not connect yet.
func New(options Options) (*Store, error) {
	config, err := configOf(&options)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", Scheme, options.Context, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", Scheme, options.Context, err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", Scheme, options.Context, err)
	}
	s := &Store{
		name: Scheme + options.Context, kinds: map[groupKind]bool{}, system: cmp.Or(options.SystemNamespace, SystemNamespace),
		secrets: options.Secrets, base: base, client: client, floors: map[groupKind]uint64{},
	}
	for _, shape := range options.Shapes {
		s.kinds[groupKind{shape.Group, shape.Kind}] = true
	}
	return s, nil
}

// configOf returns how to reach the cluster: by the kubeconfig or, if there is none and no
// context is given, as a pod of the cluster.
func configOf(options *Options) (*rest.Config, error) {
	config, err := kubeconfig(options).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.UserAgent = "meshmatch"
	return config, nil
}

func kubeconfig(options *Options) clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = options.Kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: options.Context})
}

// Namespace returns the namespace of the context, as kubectl takes it.
func Namespace(options Options) (string, error) {
	namespace, _, err := kubeconfig(&options).Namespace()
	return namespace, err
}

// String implements [source.Store].
func (s *Store) String() string { return s.name }

// IsAddress reports whether a name is the address of a cluster, and returns its context.
func IsAddress(name string) (context string, isAddress bool) { return strings.CutPrefix(name, Scheme) }
