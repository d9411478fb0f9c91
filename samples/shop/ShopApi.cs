using Treepie;
using Treepie.Linq;

namespace Shop;

/// <summary>The pages of the shop. Each request has a session of its own, from the container.</summary>
public static class ShopApi
{
    private const int PageSize = 20;

    public static void MapShop(this IEndpointRouteBuilder routes)
    {
        routes.MapGet(
            "/products/{id:int}",
            (int id, IDocumentSession session) => session.Load<Product>(id) is { } product
                ? Results.Ok(product)
                : Results.NotFound());
        routes.MapGet("/products", FindAsync);
        routes.MapGet("/categories", CategoriesAsync);
        routes.MapPost("/products", AddAsync);
        routes.MapPost("/orders", BuyAsync);
        routes.MapGet(
            "/orders/{id}",
            (string id, IDocumentSession session) => session.Load<Order>("orders/" + id) is { } order
                ? Results.Ok(order)
                : Results.NotFound());
        routes.MapHealthChecks("/healthz");
    }

    /// <summary>
    /// Full-text search, or all by name. What was looked for is kept in the log, a database of its own that the shop can do
    /// without.
    /// </summary>
    private static async Task<IReadOnlyList<Product>> FindAsync(
        IAsyncDocumentSession session,
        [FromKeyedServices("log")] IAsyncDocumentSession log,
        TimeProvider clock,
        string? search,
        decimal? atMost,
        int page = 0,
        CancellationToken cancellationToken = default)
    {
        IDocumentQueryable<Product> products = session.Query<Product>();
        if (!string.IsNullOrWhiteSpace(search))
            products = products.Where(
                product => RqlMethods.Boost(RqlMethods.Search(product.Name, search, false), 3)
                    || RqlMethods.Search(product.Description, search, false));
        if (atMost is { } limit)
            products = products.Where(product => product.Price <= limit);
        if (string.IsNullOrWhiteSpace(search))
            products = products.OrderBy(product => product.Name);
        List<Product> found = await products.Skip(page * PageSize).Take(PageSize).ToListAsync(cancellationToken);
        if (!string.IsNullOrWhiteSpace(search))
        {
            await log.StoreAsync(new SearchEntry(search, found.Count, clock.GetUtcNow()), cancellationToken: cancellationToken);
            await log.SaveChangesAsync(cancellationToken);
        }

        return found;
    }

    /// <summary>How many products each category has.</summary>
    private static async Task<IReadOnlyDictionary<string, long>> CategoriesAsync(
        IAsyncDocumentSession session, CancellationToken cancellationToken)
    {
        IReadOnlyDictionary<string, FacetResult> facets = await session.Query<Product>()
            .AggregateBy(product => product.Category)
            .ExecuteAsync(cancellationToken);
        return facets["Category"].Values.ToDictionary(value => value.Range, value => value.Count);
    }

    private static async Task<IResult> AddAsync(
        Product product, IAsyncDocumentSession session, CancellationToken cancellationToken)
    {
        await session.StoreAsync(product, cancellationToken: cancellationToken);
        await session.SaveChangesAsync(cancellationToken);
        return Results.Created($"/products/{product.Id}", product);
    }

    /// <summary>
    /// Takes what is bought from the stock and stores the order, both or neither. If somebody else buys the same at that moment,
    /// it is done again with what is left then.
    /// </summary>
    private static async Task<IResult> BuyAsync(
        PurchaseRequest request, IDocumentStore store, TimeProvider clock, CancellationToken cancellationToken)
    {
        if (request.Amount < 1)
            return Results.BadRequest("Buy at least one.");
        IResult answer = Results.NotFound();
        await store.RunAsync(
            async session =>
            {
                Product? product = await session.LoadAsync<Product>(request.ProductId, cancellationToken);
                if (product is null || product.Stock < request.Amount)
                {
                    answer = product is null ? Results.NotFound() : Results.Conflict($"There are {product.Stock} left.");
                    return;
                }

                product.Stock -= request.Amount;
                var order = new Order(request.ProductId, request.Amount, request.Amount * product.Price, clock.GetUtcNow());
                await session.StoreAsync(order, cancellationToken: cancellationToken);
                answer = Results.Created($"/{session.Advanced.GetDocumentId(order)}", order);
            },
            cancellationToken);
        return answer;
    }
}
