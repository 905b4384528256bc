// Calls of the Go client of openapi-generator, compiled and sent to the running stack.
// Reads BASE_URL, TOKEN and RUN from the environment, and prints the number of calls.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"stowage"
)

var calls = 0

// got returns the body of a success.
func got[T any](body T, response *http.Response, err error) T {
	calls++
	check(err == nil, fmt.Sprint(response, err))
	return body
}

func check(holds bool, what string) {
	if !holds {
		panic(what)
	}
}

func main() {
	configuration := stowage.NewConfiguration()
	configuration.Servers = stowage.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	api := stowage.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), stowage.ContextAccessToken, os.Getenv("TOKEN"))
	code := "GO-" + os.Getenv("RUN")

	draft := stowage.NewProductCreate("A product")
	draft.SetItemCode(code)
	made := got(api.ProductsAPI.CreateProduct(ctx).IdempotencyKey(code).ProductCreate(*draft).Execute())
	found := got(api.ProductsAPI.ListProducts(ctx).ItemCode(code).Execute())
	check(len(found.Data) == 1 && found.Data[0].Id == made.Data.Id, "the product is not in its list")

	_, response, err := api.ProductsAPI.GetProduct(ctx, 999_999_999_999).Execute()
	calls++
	var refusal *stowage.GenericOpenAPIError
	check(response.StatusCode == http.StatusNotFound && errors.As(err, &refusal), fmt.Sprint(err))
	answer, ok := refusal.Model().(stowage.ErrorResponse)
	check(ok && answer.Error.Code == stowage.ERRORCODE_NOT_FOUND, string(refusal.Body()))

	feed := got(api.ChangesAPI.ListChanges(ctx).PerPage(1).Execute())
	check(feed.Meta.Epoch > math.MaxInt32, "the epoch has milliseconds")
	orders := got(api.ExitDocumentsAPI.ListExitDocuments(ctx).PerPage(2).Execute())
	check(len(orders.Data) == 2 && orders.Meta.Total > 2, "orders are missing")
	fmt.Println(calls, "calls")
}
