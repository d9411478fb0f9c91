namespace Shop;

/// <summary>What the shop sells: a document of the collection Products.</summary>
public sealed class Product
{
    public int Id { get; set; }

    public required string Name { get; set; }

    public string Description { get; set; } = "";

    public string Category { get; set; } = "";

    public decimal Price { get; set; }

    public int Stock { get; set; }
}
