namespace Treepie.Documents.Tests.Linq;

public sealed class Address
{
    public string? City { get; set; }

    public double Lat { get; set; }

    public double Lng { get; set; }
}
