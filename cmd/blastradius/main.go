// Command blastradius shows what one slow dependency does to everything else
// in a service, and what contains it.
package main

import (
	"os"

	"blastradius/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
