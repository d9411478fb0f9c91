using Treepie.Tests.Support;

namespace Treepie.Computing.Tests.Pages;

/// <summary>The classes of docs/howto/coming-from.md, whose blocks are programs that open a store of their own.</summary>
public sealed class ComingPage : IPageState
{
    private readonly TemporaryDirectory _directory = new();

#pragma warning disable CA2211, IDE1006, SA1307, CA1051 // as blocks name it
    public static string path = "";
#pragma warning restore CA2211, IDE1006, SA1307, CA1051

    Task IPageState.BeginAsync(string directory)
    {
        path = _directory.Path;
        return Task.CompletedTask;
    }

    Task IPageState.EndAsync() => Task.CompletedTask;

    public void Dispose() => _directory.Dispose();

    public sealed class Customer
    {
        public int Id { get; set; }

        public string Name { get; set; } = "";

        public string City { get; set; } = "";

        public int Visits { get; set; }

        public bool IsActive { get; set; }

        public List<string> Tags { get; set; } = [];

        public List<Address> Addresses { get; set; } = [];
    }

    public sealed class Address
    {
        public string Kind { get; set; } = "";

        public string City { get; set; } = "";
    }

    public sealed class Invoice
    {
        public string? Id { get; set; }

        public string CustomerId { get; set; } = "";

        public decimal Total { get; set; }

        public DateTimeOffset At { get; set; }
    }
}
