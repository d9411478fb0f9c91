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
        routes.MapHealthChecks("/healthz");
    }

    /// <summary>Full-text search, or all by name.</summary>
    private static async Task<IReadOnlyList<Product>> FindAsync(
        IAsyncDocumentSession session, string? search, decimal? atMost, int page, CancellationToken cancellationToken)
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
        return await products.Skip(page * PageSize).Take(PageSize).ToListAsync(cancellationToken);
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
    /// Takes what is bought from the stock; somebody who bought the last one in between is noticed by the save.
    /// </summary>
    private static async Task<IResult> BuyAsync(
        PurchaseRequest request,
        IDocumentSession products,
        [FromKeyedServices("orders")] IAsyncDocumentSession orders,
        TimeProvider clock,
        CancellationToken cancellationToken)
    {
        if (request.Amount < 1)
            return Results.BadRequest("Buy at least one.");
        if (products.Load<Product>(request.ProductId) is not { } product)
            return Results.NotFound();
        if (product.Stock < request.Amount)
            return Results.Conflict($"There are {product.Stock} left.");
        product.Stock -= request.Amount;
        try
        {
            products.Store(product, changeVector: products.Advanced.GetChangeVectorFor(product));
            products.SaveChanges();
        }
        catch (ConcurrencyException)
        {
            return Results.Conflict("Somebody else bought at the same moment. Try again.");
        }

        var order = new Order(request.ProductId, request.Amount, request.Amount * product.Price, clock.GetUtcNow());
        await orders.StoreAsync(order, cancellationToken: cancellationToken);
        await orders.SaveChangesAsync(cancellationToken);
        return Results.Created($"/orders/{orders.Advanced.GetDocumentId(order)}", order);
    }
}
