namespace Shop;

/// <summary>What somebody bought: a document of the collection Orders.</summary>
public sealed record Order(int ProductId, int Amount, decimal Total, DateTimeOffset OrderedAt)
{
    public string? Id { get; init; }
}
