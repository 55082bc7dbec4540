package inspectapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// parameters are the parameters of a request's query. The first error is kept.
type parameters struct {
	values url.Values
	err    error
}

// newParameters parses a query. Parameters other than the named ones are an error.
func newParameters(query string, known ...string) *parameters {
	values, err := url.ParseQuery(query)
	p := &parameters{values, err}
	for name := range values {
		if !slices.Contains(known, name) {
			p.fail(fmt.Errorf("unknown parameter %q; %s", name, diag.DidYouMean(name, known)))
		}
	}
	return p
}

func (p *parameters) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// text returns the value of a parameter, or "" if it is not given. It can be given once.
func (p *parameters) text(name string) string {
	if len(p.values[name]) > 1 {
		p.fail(fmt.Errorf("the parameter %q is given twice", name))
	}
	return p.values.Get(name)
}

// flag returns a boolean parameter. Without a value it is true.
func (p *parameters) flag(name string) bool {
	if !p.values.Has(name) || p.text(name) == "" {
		return p.values.Has(name)
	}
	value, err := strconv.ParseBool(p.text(name))
	if err != nil {
		p.fail(fmt.Errorf("the parameter %q must be true or false", name))
	}
	return value
}

// port returns a port, or 0 if it is not given.
func (p *parameters) port(name string) uint32 {
	if !p.values.Has(name) {
		return 0
	}
	port, err := strconv.ParseUint(p.text(name), 10, 16)
	if err != nil || port == 0 {
		p.fail(fmt.Errorf("the parameter %q must be a number from 1 to 65535", name))
	}
	return uint32(port)
}

// kind returns the policy kind of the parameter kind, or nil if it is not given.
func (p *parameters) kind(kinds *resource.Kinds) *resource.Kind {
	name := p.text("kind")
	if name == "" {
		return nil
	}
	kind, err := find.Kind(kinds, name)
	if err != nil {
		p.fail(err)
	}
	return kind
}

// options returns the options of an answer.
func (p *parameters) options(kinds *resource.Kinds) inspect.Options {
	o := inspect.Options{Shadow: p.flag("shadow"), Explain: p.flag("explain"), Source: p.flag("source"), Ordered: p.flag("ordered")}
	if kind := p.kind(kinds); kind != nil {
		o.Kind = kind.Name
	}
	return o
}

var requestParameters = []string{"spiffe-id", "sni", "method", "path", "header", "tag"}

// request returns the request that the parameters describe.
func (p *parameters) request() inspect.RequestQuery {
	return inspect.RequestQuery{
		SpiffeID: p.text("spiffe-id"), SNI: p.text("sni"), Method: p.text("method"), Path: p.text("path"),
		Headers: p.values["header"], Tags: p.values["tag"],
	}
}
