module github.com/meshmatch/meshmatch/cmd/benchgate

go 1.26.0

require (
	github.com/meshmatch/meshmatch v0.1.0
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/cobra v1.10.2
	gonum.org/v1/plot v0.17.0
)
