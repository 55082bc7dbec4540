package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/resource"
)

// passwordVariable is the environment variable with the password of --store-user.
const passwordVariable = "MESHMATCH_STORE_PASSWORD"

// storeFlags are the flags of stores (SPEC 14.1).
type storeFlags struct {
	ca, certificate, key string // files
	user                 string
	secrets              bool
}

func (f *storeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.ca, "store-ca", "", "the `FILE` of the CAs of an etcds:// store (default: those of the system)")
	flags.StringVar(&f.certificate, "store-cert", "", "the `FILE` of a client certificate for an etcds:// store")
	flags.StringVar(&f.key, "store-key", "", "the `FILE` of its key")
	flags.StringVar(&f.user, "store-user", "", "the `NAME` of a user of an etcd store; its password is in the environment variable "+passwordVariable)
}

// registerSecrets registers the flag of the commands that read Secrets of Kubernetes. Those
// that print resources or what is made of them do not have it, so that no key is printed.
func (f *storeFlags) registerSecrets(flags *pflag.FlagSet) {
	flags.BoolVar(&f.secrets, "store-secrets", false, "also read the Secrets of a k8s:// store that a MeshExternalService names")
}

// isStore reports whether a value of -f is the address of a store. A path that contains
// :// can be given as ./PATH.
func isStore(file string) bool {
	if _, is := kubernetes.IsAddress(file); is {
		return true
	}
	scheme, _, found := strings.Cut(file, "://")
	return found && (scheme == etcd.Scheme || scheme == etcd.SchemeTLS)
}

// split divides values of -f into paths of files and addresses of stores.
func split(files []string) (paths, addresses []string) {
	for _, file := range files {
		if isStore(file) {
			addresses = append(addresses, file)
		} else {
			paths = append(paths, file)
		}
	}
	return paths, addresses
}

// openStores returns the stores of addresses.
func (g *globals) openStores(addresses []string) ([]source.Store, error) {
	var stores []source.Store
	for i, address := range addresses {
		if repeats(addresses[i:], address) {
			return nil, usagef("the store %s is given twice", address)
		}
		store, err := g.openStore(address)
		if err != nil {
			return nil, err
		}
		stores = append(stores, store)
	}
	if isKubernetes := func(address string) bool { _, is := kubernetes.IsAddress(address); return is }; g.store.secrets && !slices.ContainsFunc(addresses, isKubernetes) {
		return nil, usagef("--store-secrets is for a k8s:// store; give one with -f")
	}
	return stores, nil
}

// openStore returns the store of an address.
func (g *globals) openStore(address string) (source.Store, error) {
	if context, is := kubernetes.IsAddress(address); is {
		return kubernetes.New(kubernetes.Options{Context: context, Shapes: resource.Shapes(g.kinds, documentTypes()), Secrets: g.store.secrets})
	}
	return g.store.etcd(address)
}

// etcd returns the store of an address.
func (f *storeFlags) etcd(text string) (*etcd.Store, error) {
	address, err := etcd.ParseAddress(text)
	if err != nil {
		return nil, usageError{err}
	}
	options := etcd.Options{Address: *address, User: f.user}
	if f.user != "" {
		if options.Password = os.Getenv(passwordVariable); options.Password == "" {
			return nil, usagef("--store-user needs a password in the environment variable %s", passwordVariable)
		}
	}
	if address.TLS {
		if options.TLS, err = f.tls(); err != nil {
			return nil, err
		}
	} else if f.ca+f.certificate+f.key != "" {
		return nil, usagef("--store-ca, --store-cert and --store-key are for TLS; use etcds://")
	}
	store, err := etcd.New(options)
	if errors.Is(err, etcd.ErrUnsafe) {
		return nil, usagef("--store-user: %w", err)
	}
	return store, err
}

// tls returns the configuration of a client.
func (f *storeFlags) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if (f.certificate == "") != (f.key == "") {
		return nil, usagef("--store-cert and --store-key belong together")
	}
	if f.ca != "" {
		text, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, fmt.Errorf("--store-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--store-ca: %s has no certificate in PEM", f.ca)
		}
	}
	if f.certificate != "" {
		// The files are read at each handshake, so that a new certificate needs no restart.
		if _, err := tls.LoadX509KeyPair(f.certificate, f.key); err != nil {
			return nil, fmt.Errorf("--store-cert: %w", err)
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
			return &pair, err
		}
	}
	return config, nil
}

// sharedCAs returns the CAs in the first store that is an etcd; nil if there is none.
func sharedCAs(stores []source.Store, prefix string) (ca.Shared, error) {
	for _, store := range stores {
		if store, ok := store.(*etcd.Store); ok {
			cas, err := store.CAs(prefix)
			if err != nil {
				return nil, usagef("--ca-prefix: %w", err)
			}
			return cas, nil
		}
	}
	if prefix != "" {
		return nil, usagef("--ca-prefix is of an etcd store; give one with -f")
	}
	return nil, nil
}
