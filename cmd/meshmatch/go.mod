module github.com/meshmatch/meshmatch/cmd/meshmatch

go 1.26.0

require (
	github.com/meshmatch/meshmatch/core/app v0.1.0
)
