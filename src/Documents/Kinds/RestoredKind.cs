namespace Treepie.Kinds;

/// <summary>A value beside documents, or its deletion, as it is to be again.</summary>
/// <param name="Key">Its key.</param>
/// <param name="Name">Its name as first written, UTF-8.</param>
/// <param name="Value">In the form of its kind.</param>
/// <param name="Etag">Its etag.</param>
/// <param name="Ticks">When it was written, UTC.</param>
/// <param name="IsDeleted">Whether it is gone.</param>
internal readonly record struct RestoredKind(
    ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Name, ReadOnlyMemory<byte> Value, long Etag, long Ticks, bool IsDeleted)
{
    /// <summary>
    /// Of a revision that shares its body with the one before: its body, for databases that do not have that one.
    /// </summary>
    public ReadOnlyMemory<byte> SharedBody { get; init; }
}
