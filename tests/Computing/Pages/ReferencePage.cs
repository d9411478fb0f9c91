using Treepie.Sessions;

namespace Treepie.Computing.Tests.Pages;

/// <summary>What programs of the reference use without saying where it comes from. They are compiled, not run.</summary>
public static class ReferencePage
{
#pragma warning disable CA2211, IDE1006, SA1307, CA1051 // as blocks name them
    public static Database database = null!; // never run
    public static DocumentSession session = null!; // never run
#pragma warning restore CA2211, IDE1006, SA1307, CA1051

    public sealed class Order
    {
        public string? Id { get; set; }

        public List<Line> Lines { get; set; } = [];
    }

    public sealed class Line
    {
        public string? Product { get; set; }

        public int Price { get; set; }

        public int Quantity { get; set; }
    }
}
