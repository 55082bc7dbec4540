package laws

// Option changes what [Check] does.
type Option func(*options)

type options struct {
	seed     int64
	rounds   int
	confs    int
	union    bool
	elements bool
	funcs    []any
}

func newOptions(opts []Option) options {
	o := options{seed: 1, rounds: 200, confs: 5}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithSeed sets the seed of the random confs; 1 is the default.
func WithSeed(seed int64) Option { return func(o *options) { o.seed = seed } }

// WithRounds sets how many sequences of confs each law is tried on; 200 is the
// default.
func WithRounds(n int) Option { return func(o *options) { o.rounds = n } }

// WithConfs sets how many confs a sequence has at most; 5 is the default.
func WithConfs(n int) Option { return func(o *options) { o.confs = n } }

// WithFuncs adds gofuzz functions, func(*X, fuzz.Continue), that make the
// values of a type. Pointers to X stay nil as often as others.
func WithFuncs(funcs ...any) Option {
	return func(o *options) { o.funcs = append(o.funcs, funcs...) }
}

// WithUnion says that the type has a discriminated union, for which only
// prefixes can be merged beforehand and an item that closed a union is no
// origin.
func WithUnion() Option { return func(o *options) { o.union = true } }

// WithElements says that the type has elements or entries that merge and are
// reported as one leaf: there are origins that no leaf names.
func WithElements() Option { return func(o *options) { o.elements = true } }
