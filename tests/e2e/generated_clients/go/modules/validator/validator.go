// Package validator has what the generated client uses of gopkg.in/validator.v2.
package validator

func Validate(any) error { return nil }
