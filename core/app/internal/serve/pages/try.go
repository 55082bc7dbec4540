package pages

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

const (
	// maxTried is the size of the form of a policy that is tried.
	maxTried = 512 << 10
	// maxInLink is the size of a text that a link holds: servers and browsers limit links.
	maxInLink = 4 << 10
	// triedName is the name of the text in positions.
	triedName = "text"
)

// tryData is the data of the page on which a request or a policy is tried.
type tryData struct {
	// Request is the asked request, and Access the answer; nil: none is asked for.
	Request      tryForm
	Access       *accessAnswer
	RequestError string
	// Text is the text of a policy, and Diff what it changes; nil: it is not asked for.
	Text       string
	Diff       *diffData
	TextErrors []textError
	Link       string // to this page with the text
}

// tryForm is the fields of the form of a request.
type tryForm struct {
	Dataplane, Inbound, SpiffeID, SNI, Method, Path string
	Headers, Tags                                   []string
	Inbounds                                        []string // of the dataplane
}

type textError struct {
	Line int
	Text string
}

// accessAnswer is the answer for a request.
type accessAnswer struct {
	*inspect.Access
	Allowed, ShadowAllowed bool
	By, ShadowBy, Near     itemLink
	Why                    []whyRow
	Warnings               []finding
}

// whyRow is the comparison of an entry with the request.
type whyRow struct {
	By                itemLink
	Matches           bool
	Field, Want, Have string
}

// requestParameters are the parameters of the form of a request.
var requestParameters = []string{"inbound", "port", "spiffe-id", "sni", "method", "path", "header", "tag", "explain", "why", "source"}

var errInbound = errors.New("the dataplane has several inbounds; choose one and ask again")

func (s *site) tryRequest(a *ask) (*view, error) {
	v := &view{Title: "Try", Section: "try"}
	data := tryData{Text: a.form.Get("policy")}
	if len(data.Text) > maxInLink {
		return nil, badRequest("the text in the link is too large; paste it")
	}
	data.Request = tryForm{
		Dataplane: a.form.Get("dataplane"), Inbound: a.form.Get("inbound"), SpiffeID: a.form.Get("spiffe-id"), SNI: a.form.Get("sni"),
		Method: a.form.Get("method"), Path: a.form.Get("path"), Headers: a.form["header"], Tags: a.form["tag"],
	}
	v.Data, v.JSON = &data, struct {
		Parameters []string `json:"parameters"`
	}{append([]string{"dataplane"}, requestParameters...)}
	if data.Request.Dataplane == "" {
		return v, nil
	}
	answer, err := a.access(&data)
	switch {
	case err != nil && a.wantsJSON():
		return nil, err
	case errors.Is(err, errInbound):
		v.JSON, data.RequestError = nil, err.Error()
		return v, nil
	case err != nil:
		v.JSON, v.status, data.RequestError = nil, statusOf(err), err.Error()
		return v, nil
	}
	v.JSON = answer
	return v, nil
}

// access answers the request of a form, with the parameters of _access.
func (a *ask) access(data *tryData) (*inspect.Access, error) {
	d, err := a.dataplane(data.Request.Dataplane)
	if err != nil {
		return nil, err
	}
	for i := range d.Inbounds {
		if d.IsListener(i) {
			data.Request.Inbounds = append(data.Request.Inbounds, find.InboundName(d, i))
		}
	}
	query := url.Values{}
	for _, name := range requestParameters {
		values := slices.DeleteFunc(slices.Clone(a.form[name]), func(value string) bool { return value == "" })
		if len(values) > 0 {
			query[name] = values
		}
	}
	for name := range a.form {
		if !slices.Contains(requestParameters, name) && !slices.Contains([]string{"dataplane", "namespace", "o", "policy"}, name) {
			return nil, badRequest(diag.WithHint(fmt.Sprintf("unknown parameter %q", diag.Clip(name, 100)), diag.DidYouMean(name, requestParameters)))
		}
	}
	if !query.Has("inbound") && !query.Has("port") && len(d.Inbounds) == 1 {
		query.Set("inbound", data.Request.Inbounds[0])
		data.Request.Inbound = data.Request.Inbounds[0]
	}
	if !query.Has("inbound") && !query.Has("port") && !a.wantsJSON() {
		return nil, errInbound
	}
	if a.wantsJSON() {
		return inspectapi.Access(a.State, d, query)
	}
	for _, flag := range []string{"explain", "why", "source"} {
		query.Set(flag, "true")
	}
	answer, err := inspectapi.Access(a.State, d, query)
	if err != nil {
		return nil, err
	}
	shown := &accessAnswer{Access: answer, Allowed: answer.Allowed(), By: a.decider(&answer.By), Warnings: a.findingsOf(answer.Warnings)}
	if answer.Shadow != nil {
		shown.ShadowAllowed, shown.ShadowBy = answer.Shadow.Allowed(), a.decider(&answer.Shadow.By)
	}
	if answer.Explanation != nil && answer.Nearest != nil {
		shown.Near = a.decider(&answer.Nearest.Decider)
	}
	shown.Why = lists.MapPointers(answer.Why, func(why *inspect.Why) whyRow {
		row := whyRow{By: a.decider(&why.Decider), Matches: why.Condition == nil}
		if c := why.Condition; c != nil {
			row.Field, row.Want, row.Have = c.Field, c.Want, "none"
			if c.Have != nil {
				row.Have = *c.Have
			}
		}
		return row
	})
	data.Access = shown
	return answer, nil
}
