import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ChangesApi;
import org.openapitools.client.api.ExitDocumentsApi;
import org.openapitools.client.api.ProductsApi;
import org.openapitools.client.model.ProductCreate;

/**
 * Calls of the Java client of openapi-generator, sent to the running stack. Reads BASE_URL, TOKEN
 * and RUN from the environment, and prints the number of calls.
 */
public class Story {
    private static int calls = 0;

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static <T> T counted(T answer) {
        calls += 1;
        return answer;
    }

    public static void main(String[] arguments) throws ApiException {
        var token = System.getenv("TOKEN");
        var client = new ApiClient();
        client.updateBaseUri(System.getenv("BASE_URL"));
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
        var products = new ProductsApi(client);
        var code = "JAVA-" + System.getenv("RUN");

        var draft = new ProductCreate().itemCode(code).name("A product");
        var made = counted(products.createProduct(
            ProductsApi.APICreateProductRequest.newBuilder()
                .productCreate(draft).idempotencyKey(code).build()));
        var found = counted(products.listProducts(
            ProductsApi.APIListProductsRequest.newBuilder().itemCode(code).build()));
        check(found.getData().get(0).getId().equals(made.getData().getId()), "it is not listed");

        try {
            products.getProduct(
                ProductsApi.APIGetProductRequest.newBuilder().id(999_999_999_999L).build());
            check(false, "an unknown product is found");
        } catch (ApiException refusal) {
            check(counted(refusal).getCode() == 404, refusal.getMessage());
        }

        var feed = counted(new ChangesApi(client).listChanges(
            ChangesApi.APIListChangesRequest.newBuilder().perPage(1L).build()));
        check(feed.getMeta().getEpoch() > Integer.MAX_VALUE, "the epoch has milliseconds");
        var orders = counted(new ExitDocumentsApi(client).listExitDocuments(
            ExitDocumentsApi.APIListExitDocumentsRequest.newBuilder().perPage(2L).build()));
        check(orders.getData().size() == 2 && orders.getMeta().getTotal() > 2, "orders are missing");
        System.out.println(calls + " calls");
    }
}
