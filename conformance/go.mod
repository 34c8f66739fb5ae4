module blastradius/conformance

go 1.26.0

require (
	blastradius v0.0.0
	github.com/sony/gobreaker/v2 v2.4.0
)

require github.com/stretchr/testify v1.11.1 // indirect

replace blastradius => ../
