namespace Treepie.Documents.Tests.Linq;

public sealed class OrderLine
{
    public string? Sku { get; set; }

    public int Amount { get; set; }

    public List<string> Colors { get; set; } = [];
}
