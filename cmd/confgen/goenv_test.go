package main

import (
	"os/exec"
	"strings"
)

// goEnv returns a setting of the go command, or "".
func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
