package permissiontest

// SpiffeIDs are the clients. They tell apart what a comparison by characters,
// by segments and by trust domain would confuse.
var SpiffeIDs = []string{
	"spiffe://shop.mesh/ns/legacy",
	"spiffe://shop.mesh/ns/legacy/sa/batch",
	"spiffe://shop.mesh/ns/legacy-2/sa/web",
	"spiffe://shop.mesh/ns/web/sa/web",
	"spiffe://shop.mesh/ns/web/sa/webhook",
	"spiffe://shop.mesh.evil/ns/web/sa/web",
	"spiffe://other.mesh/ns/web/sa/web",
}

var (
	spiffePrefixes = []string{
		"spiffe://shop.mesh", "spiffe://shop.mesh/", "spiffe://shop.mesh/ns/legacy", "spiffe://shop.mesh/ns/legacy/",
		"spiffe://shop.mesh/ns/web", "spiffe://shop.mesh/ns/web/sa/web", "spiffe://other.mesh",
	}
	serverNames = []string{"api.shop.mesh", "shop.mesh"}
	methods     = []string{"GET", "POST", "DELETE"}

	exactPaths  = []string{"/", "/a", "/a/", "/a/b", "/metrics"}
	prefixPaths = []string{"/", "/a", "/a/", "/a/b", "/metrics/"}
	pathRegexes = []string{
		"/a.*", "^/a$", "/[a-z]+", "/a(/b)?", ".*b", "/a|/b", "(?i)/A", "/a.b", "/[^b]*", "/a$|/b", "/(a$|b)?", "/a\\b.*", "", "/x{0,2}",
	}
	requestPaths = []string{
		"/", "/a", "/a/", "/a/b", "/ab", "/b", "/A", "/metrics", "/metrics/cpu", "/metrics-2", "/xx",
		"/a?x=1", "/a/?x=1", "/a/b?q=/metrics", "/b?/a", "/?a", "/ab?b", "/z?/a/b", "/a?", "/a??b", "/metrics?%0A",
	}

	headerNames   = []string{"x-team", "X-Canary"}
	headerValues  = []string{"", "a", "ab", "b"}
	headerRegexes = []string{"a.*", "", "b?", "^a$", "[^a]+"}

	tagKeys   = []string{"version", "team", "team/lead"}
	tagValues = []string{"v1", "v2"}
	services  = []string{"web", "api"}
)
