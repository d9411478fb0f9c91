namespace Treepie.Documents.Tests.Linq;

/// <summary>A part of a <see cref="Parcel"/>.</summary>
public sealed record ParcelBox(string Label, DateOnly Packed)
{
    public Guid? Seal { get; init; }

    public decimal? Worth { get; init; }

    public ParcelKind? Kind { get; init; }

    public TimeSpan Takes { get; init; }

    public DateTimeOffset At { get; init; }

    public float Ratio { get; init; }

    public bool? IsFull { get; init; }
}
