module stowage

go 1.23

require (
	golang.org/x/oauth2 v0.27.0
	gopkg.in/validator.v2 v2.0.1
)

replace golang.org/x/oauth2 => ./modules/oauth2

replace gopkg.in/validator.v2 => ./modules/validator
