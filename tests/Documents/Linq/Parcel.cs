namespace Treepie.Documents.Tests.Linq;

/// <summary>Members of every kind that a query can ask for, more than <see cref="Order"/> has.</summary>
public sealed record Parcel
{
    public int Id { get; init; }

    public string? Name { get; init; }

    public ParcelKind Kind { get; init; }

    public ParcelKind? Former { get; init; }

    public DateTimeOffset At { get; init; }

    public DateTimeOffset? Until { get; init; }

    public DateTime Utc { get; init; }

    public DateTime? Seen { get; init; }

    public DateOnly Day { get; init; }

    public DateOnly? Due { get; init; }

    public TimeOnly Hour { get; init; }

    public TimeOnly? Closes { get; init; }

    public TimeSpan Takes { get; init; }

    public TimeSpan? Waits { get; init; }

    public Guid Owner { get; init; }

    public Guid? Agent { get; init; }

    public decimal Price { get; init; }

    public decimal? Discount { get; init; }

    public long Serial { get; init; }

    public ulong Big { get; init; }

    public uint Count { get; init; }

    public short Small { get; init; }

    public byte Tiny { get; init; }

    public float Ratio { get; init; }

    public double? Weight { get; init; }

    public char Letter { get; init; }

    public bool? IsFragile { get; init; }

    public Dictionary<string, Dictionary<string, int>> Nested { get; init; } = [];

    public Dictionary<ParcelKind, int> ByKind { get; init; } = [];

    public Dictionary<Guid, string> ByOwner { get; init; } = [];

    public Dictionary<string, List<int>> Lists { get; init; } = [];

    public ParcelBox? Box { get; init; }

    public List<ParcelBox> Boxes { get; init; } = [];

    public List<string?> Labels { get; init; } = [];

    public List<Guid> Owners { get; init; } = [];

    public List<ParcelKind> Kinds { get; init; } = [];
}
