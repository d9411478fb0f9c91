namespace Treepie.Indexing.Sorting;

/// <summary>Writes one part of a sort key.</summary>
internal abstract class KeyPart
{
    public const byte NullsFirstRank = 0;
    public const byte ValueRank = 1;
    public const byte NullsLastRank = 2;

    /// <summary>Appends the part of an entry. Cheap in ascending order of entries, which is usual.</summary>
    public abstract void Append(long id, float score, KeyBuffer key);

    /// <summary>
    /// A lower bound of the first eight bytes that <see cref="Append"/> would write, as an integer. A hit whose bound is above
    /// the worst kept hit is dropped without writing its key. 0 if no bound is cheap.
    /// </summary>
    public virtual ulong Least(long id) => 0;
}
