// Package oauth2 has what the generated client uses of golang.org/x/oauth2.
package oauth2

import "net/http"

type Token struct{}

func (*Token) SetAuthHeader(*http.Request) {}

type TokenSource interface{ Token() (*Token, error) }
