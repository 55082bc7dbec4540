package permissiontest

// SpiffeIDs are the clients. They detect comparisons that confuse characters,
// segments and trust domains.
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
		"spiffe://s", "spiffe://shop.mesh/n", "spiffe://shop.mesh/ns/l", "spiffe://shop.mesh/ns/web/..s",
	}
	// certificates are URI SANs with at most one SPIFFE ID for each client.
	certificates = [][]string{
		{},
		{"https://shop.mesh/ns/web"},
		{SpiffeIDs[1], "kuma://team/lead"},
		{"urn:a", SpiffeIDs[3], "kuma://version/v1"},
		{SpiffeIDs[1], SpiffeIDs[1]},
		{SpiffeIDs[3], "kuma://version/v1", SpiffeIDs[1]},
		{SpiffeIDs[1] + ",b"},
		{SpiffeIDs[0] + "/x,y"},
		{"kuma://team/a,", SpiffeIDs[3]},
		// One URI SAN with a comma cannot be distinguished from several.
		{"https://x/," + SpiffeIDs[3]},
		{"kuma://team/a", "https://x/," + SpiffeIDs[0], "urn:a"},
		{SpiffeIDs[3] + ",kuma://version/v1"},
		// These look like SPIFFE IDs but are not.
		{"SPIFFE://shop.mesh/ns/web/sa/web"},
		{"Spiffe://shop.mesh/ns/web", SpiffeIDs[3]},
		{SpiffeIDs[1], "sPIFFE://shop.mesh"},
		{"spiffe://Shop.mesh/ns/web"},
		{"spiffe://shop.mesh"},
		{"spiffe://shop.mesh/"},
		{"spiffe://shop.mesh/ns/web/"},
		{"spiffe://shop.mesh//ns/web/sa/web"},
		{"spiffe://shop.mesh/ns/legacy/../web/sa/web"},
		{"spiffe://shop.mesh/ns/web/./sa"},
		{"spiffe://shop.mesh/ns/web/.."},
		{"spiffe://shop.mesh/ns/web/.../sa"},
		{"spiffe://shop.mesh/ns/web/..sa/.b/a."},
		{"spiffe://shop.mesh/ns/web?a"},
		{"spiffe://shop.mesh/ns/web/sa?a"},
		{"spiffe://shop.mesh/ns/web/sa#a", "urn:a"},
		{"spiffe://shop.mesh/ns/web/%73a"},
		{"spiffe://shop.mesh/ns/web/a b"},
		{"spiffe://user@shop.mesh/ns/web"},
		{"spiffe://shop.mesh:443/ns/web"},
		{"spiffe:///ns/web"},
		{"spiffe:shop.mesh/ns/web"},
		{"spiffe://shop.mesh/ns/web/sa\\x"},
		{"spiffe://?", SpiffeIDs[3]},
		// A URI SAN is ASCII, but a certificate can have any bytes.
		{"spiffe://shop.mesh/ns/web/\xff"},
		{"spiffe://shop.mesh/ns/web/sa/w\u00e4b"},
		{"urn:\xff", SpiffeIDs[3]},
		{SpiffeIDs[1], "urn:\xffx", "kuma://version/\xff"},
		{SpiffeIDs[1], "\xffspiffe://shop.mesh/ns/web"},
		{"spiffe://\xff", SpiffeIDs[3]},
	}

	serverNames = []string{"api.shop.mesh", "Shop.mesh", "kilo.mesh"}
	// The Kelvin sign is not a k.
	requestServerNames = []string{"api.shop.mesh", "API.Shop.mesh", "shop.mesh", "Kilo.mesh", "\u212ailo.mesh"}
	methods            = []string{"GET", "POST", "DELETE"}

	exactPaths  = []string{"/", "/a", "/a/", "/a/b", "/metrics"}
	prefixPaths = []string{"/", "/a", "/a/", "/a/b", "/metrics/"}
	pathRegexes = []string{
		"/a.*", "^/a$", "/[a-z]+", "/a(/b)?", ".*b", "/a|/b", "(?i)/A", "/a.b", "/[^b]*", "/a$|/b", "/(a$|b)?", "/a\\b.*", "", "/x{0,2}",
		"/.%.*", "(?i)/[j-l].*", "/...", "/%C3%A4", "/a.{1,255}",
	}
	requestPaths = []string{
		"/", "/a", "/a/", "/a/b", "/ab", "/b", "/A", "/metrics", "/metrics/cpu", "/metrics-2", "/xx",
		"/a?x=1", "/a/?x=1", "/a/b?q=/metrics", "/b?/a", "/?a", "/ab?b", "/z?/a/b", "/a?", "/a??b", "/metrics?%0A",
		"//a", "/a//b", "/./a", "/x/../a", "/a/b/..", "/a/.", "/../b", "/a/..//b/", "/%61", "/a%2Fb", "/a%5cb?x", "/a\\b", "/ä", "/a/\xff?ä", "/a?ä", "/a^b", "//", "/x/..;q/a", "/K", "/\u212a",
	}

	headerNames   = []string{"x-team", "X-Canary", "cookie"}
	headerValues  = []string{"", "a", "ab", "b", "a,b", "a b"}
	headerRegexes = []string{"a.*", "", "b?", "^a$", "[^a]+", "a,.*", "..", "(?:^a|b$)*", "(?i)A ?b?", "[^,]*b", `\bb`, "[ab]{2}", "(.*; )?a(; .*)?", "[^,]* ", "(?i)[j-l]", "(?i)s.*"}
	// Hosts have upper and lower case letters, with and without a final dot,
	// with and without a port.
	authorities = []string{"a", "ab", "backend", "A", "aB.", "a.", "a:80", "AB.:80", "ab:8080", "a.:", "b.a:8"}
	hostValues  = []string{"a", "ab", "A", "Ab.", "a:80", "AB.:8080", "b.a"}
	hostRegexes = []string{"a", "A.*", "^ab?$", "[^b]+", ".*:80", "a(:80|b)$", `[a-z.]*\.A`, "b?", `\w+`, `a\b.*`}
	// lineValues are header values that a client sends: with spaces, with
	// several elements and with non-ASCII bytes.
	lineValues = []string{"", "a", "ab", "b", " a ", "a,b", "b ,\ta", "b, ab", "a b", ",a", "ab,", "b,a b,b", "A", "aä", "\xff", "K", "\u212a", "\u017f"}

	tagKeys   = []string{"version", "team", "team/lead"}
	tagValues = []string{"v1", "v2"}
	// otherValues are the values of clients that no item names. The last ones are not
	// UTF-8.
	otherValues = []string{"v3", "v1\u00e4", "\xff", "v1\xff"}
	services    = []string{"web", "api"}
)
