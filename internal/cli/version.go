package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is what reports carry. It is a constant so that a report's bytes do
// not depend on how the binary was built.
const Version = "v0.2.0"

// versionLine adds what the build knows: the revision, which builds without
// version control do not have, and the toolchain.
func versionLine() string {
	revision, modified := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && s.Value != "":
				revision = s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = ", modified"
			}
		}
	}
	return fmt.Sprintf("blastradius %s (revision %s%s, %s, %s/%s)", Version, revision, modified, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
