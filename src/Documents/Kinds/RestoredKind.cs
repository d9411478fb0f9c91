namespace Treepie.Kinds;

/// <summary>An item of related data, or its tombstone, to restore.</summary>
/// <param name="Key">The key.</param>
/// <param name="Name">The name in the case in which it was first written, in UTF-8.</param>
/// <param name="Value">The value in the form of its kind.</param>
/// <param name="Etag">The etag.</param>
/// <param name="Ticks">When it was written (UTC ticks).</param>
/// <param name="IsDeleted">Whether it was deleted.</param>
internal readonly record struct RestoredKind(
    ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Name, ReadOnlyMemory<byte> Value, long Etag, long Ticks, bool IsDeleted)
{
    /// <summary>
    /// For a revision that shares the body of the previous one: the body, for databases that do not have the previous one.
    /// </summary>
    public ReadOnlyMemory<byte> SharedBody { get; init; }
}
